entry @direct_batched_product(%arg0: tile<ptr<f16>>, %arg1: tile<i32>, %arg2: tile<i32>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<ptr<f16>>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<i32>, %arg11: tile<i32>, %arg12: tile<i32>, %arg13: tile<i32>, %arg14: tile<ptr<f16>>, %arg15: tile<i32>, %arg16: tile<i32>, %arg17: tile<i32>, %arg18: tile<i32>, %arg19: tile<i32>, %arg20: tile<i32>) optimization_hints=<default = {}> {
  %0 = make_token : token
  %assume = assume div_by<16>, %arg0 : tile<ptr<f16>>
  %assume_0 = assume div_by<8>, %arg4 : tile<i32>
  %assume_1 = assume div_by<8>, %arg5 : tile<i32>
  %assume_2 = assume div_by<16>, %arg7 : tile<ptr<f16>>
  %assume_3 = assume div_by<8>, %arg11 : tile<i32>
  %assume_4 = assume div_by<8>, %arg12 : tile<i32>
  %assume_5 = assume div_by<16>, %arg14 : tile<ptr<f16>>
  %assume_6 = assume div_by<8>, %arg18 : tile<i32>
  %assume_7 = assume div_by<8>, %arg19 : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_1_i32_8 = constant <i32: 1> : tile<i32>
  %cst_1_i32_9 = constant <i32: 1> : tile<i32>
  %assume_10 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_11 = assume bounded<0, ?>, %arg2 : tile<i32>
  %assume_12 = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_assume = assume bounded<0, ?>, %assume_0 : tile<i32>
  %assume_assume_assume = assume div_by<8>, %assume_assume : tile<i32>
  %assume_assume_13 = assume bounded<0, ?>, %assume_1 : tile<i32>
  %assume_assume_assume_14 = assume div_by<8>, %assume_assume_13 : tile<i32>
  %tview = make_tensor_view %assume, shape = [%assume_10, %assume_11, %assume_12], strides = [%assume_assume_assume, %assume_assume_assume_14, 1] : tile<i32> -> tensor_view<?x?x?xf16, strides=[?,?,1]>
  %assume_15 = assume bounded<0, ?>, %arg8 : tile<i32>
  %assume_16 = assume bounded<0, ?>, %arg9 : tile<i32>
  %assume_17 = assume bounded<0, ?>, %arg10 : tile<i32>
  %assume_assume_18 = assume bounded<0, ?>, %assume_3 : tile<i32>
  %assume_assume_assume_19 = assume div_by<8>, %assume_assume_18 : tile<i32>
  %assume_assume_20 = assume bounded<0, ?>, %assume_4 : tile<i32>
  %assume_assume_assume_21 = assume div_by<8>, %assume_assume_20 : tile<i32>
  %tview_22 = make_tensor_view %assume_2, shape = [%assume_15, %assume_16, %assume_17], strides = [%assume_assume_assume_19, %assume_assume_assume_21, 1] : tile<i32> -> tensor_view<?x?x?xf16, strides=[?,?,1]>
  %assume_23 = assume bounded<0, ?>, %arg15 : tile<i32>
  %assume_24 = assume bounded<0, ?>, %arg16 : tile<i32>
  %assume_25 = assume bounded<0, ?>, %arg17 : tile<i32>
  %assume_assume_26 = assume bounded<0, ?>, %assume_6 : tile<i32>
  %assume_assume_assume_27 = assume div_by<8>, %assume_assume_26 : tile<i32>
  %assume_assume_28 = assume bounded<0, ?>, %assume_7 : tile<i32>
  %assume_assume_assume_29 = assume div_by<8>, %assume_assume_28 : tile<i32>
  %tview_30 = make_tensor_view %assume_5, shape = [%assume_23, %assume_24, %assume_25], strides = [%assume_assume_assume_27, %assume_assume_assume_29, 1] : tile<i32> -> tensor_view<?x?x?xf16, strides=[?,?,1]>
  %pview = make_partition_view %tview_30 : partition_view<tile=(1x128x128), tensor_view<?x?x?xf16, strides=[?,?,1]>>
  %1:3 = get_index_space_shape %pview : partition_view<tile=(1x128x128), tensor_view<?x?x?xf16, strides=[?,?,1]>> -> tile<i32>
  %pview_31 = make_partition_view %tview_30 : partition_view<tile=(1x128x128), tensor_view<?x?x?xf16, strides=[?,?,1]>>
  %2:3 = get_index_space_shape %pview_31 : partition_view<tile=(1x128x128), tensor_view<?x?x?xf16, strides=[?,?,1]>> -> tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %3 = muli %1#1, %2#2 : tile<i32>
  %4 = divi %blockId_x, %3 signed rounding<negative_inf> : tile<i32>
  %blockId_x_32, %blockId_y_33, %blockId_z_34 = get_tile_block_id : tile<i32>
  %5 = muli %1#1, %2#2 : tile<i32>
  %6 = remi %blockId_x_32, %5 signed : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %7 = cmpi less_than %6, %cst_0_i32, signed : tile<i32> -> tile<i1>
  %8 = cmpi less_than %5, %cst_0_i32, signed : tile<i32> -> tile<i1>
  %9 = xori %7, %8 : tile<i1>
  %10 = cmpi not_equal %6, %cst_0_i32, signed : tile<i32> -> tile<i1>
  %11 = andi %9, %10 : tile<i1>
  %12 = addi %6, %5 : tile<i32>
  %13 = select %11, %12, %6 : tile<i1>, tile<i32>
  %14 = divi %13, %2#2 signed rounding<negative_inf> : tile<i32>
  %15 = remi %13, %2#2 signed : tile<i32>
  %cst_0_i32_35 = constant <i32: 0> : tile<i32>
  %16 = cmpi less_than %15, %cst_0_i32_35, signed : tile<i32> -> tile<i1>
  %17 = cmpi less_than %2#2, %cst_0_i32_35, signed : tile<i32> -> tile<i1>
  %18 = xori %16, %17 : tile<i1>
  %19 = cmpi not_equal %15, %cst_0_i32_35, signed : tile<i32> -> tile<i1>
  %20 = andi %18, %19 : tile<i1>
  %21 = addi %15, %2#2 : tile<i32>
  %22 = select %20, %21, %15 : tile<i1>, tile<i32>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<128x128xf32>
  %pview_36 = make_partition_view %tview : partition_view<tile=(1x128x32), tensor_view<?x?x?xf16, strides=[?,?,1]>>
  %23:3 = get_index_space_shape %pview_36 : partition_view<tile=(1x128x32), tensor_view<?x?x?xf16, strides=[?,?,1]>> -> tile<i32>
  %cst_0_i32_37 = constant <i32: 0> : tile<i32>
  %cst_1_i32_38 = constant <i32: 1> : tile<i32>
  %pview_39 = make_partition_view %tview : partition_view<tile=(1x128x32), padding_value = zero, tensor_view<?x?x?xf16, strides=[?,?,1]>>
  %pview_40 = make_partition_view %tview_22 : partition_view<tile=(1x32x128), padding_value = zero, tensor_view<?x?x?xf16, strides=[?,?,1]>>
  %for = for %loopIdx in (%cst_0_i32_37 to %23#2, step %cst_1_i32_38) : tile<i32> iter_values(%iterArg0 = %cst_0_f32) -> (tile<128x128xf32>) {
    %tile, %result_token = load_view_tko weak %pview_39[%4, %14, %loopIdx] token = %0 : partition_view<tile=(1x128x32), padding_value = zero, tensor_view<?x?x?xf16, strides=[?,?,1]>>, tile<i32> -> tile<1x128x32xf16>, token
    %tile_42, %result_token_43 = load_view_tko weak %pview_40[%4, %loopIdx, %22] token = %0 : partition_view<tile=(1x32x128), padding_value = zero, tensor_view<?x?x?xf16, strides=[?,?,1]>>, tile<i32> -> tile<1x32x128xf16>, token
    %reshape_44 = reshape %tile : tile<1x128x32xf16> -> tile<128x32xf16>
    %reshape_45 = reshape %tile_42 : tile<1x32x128xf16> -> tile<32x128xf16>
    %26 = mmaf %reshape_44, %reshape_45, %iterArg0 : tile<128x32xf16>, tile<32x128xf16>, tile<128x128xf32>
    continue %26 : tile<128x128xf32>
  }
  %24 = ftof %for  : tile<128x128xf32> -> tile<128x128xf16>
  %reshape = reshape %24 : tile<128x128xf16> -> tile<1x128x128xf16>
  %pview_41 = make_partition_view %tview_30 : partition_view<tile=(1x128x128), tensor_view<?x?x?xf16, strides=[?,?,1]>>
  %25 = store_view_tko weak %reshape, %pview_41[%4, %14, %22] token = %0 : tile<1x128x128xf16>, partition_view<tile=(1x128x128), tensor_view<?x?x?xf16, strides=[?,?,1]>>, tile<i32> -> token
  return
}
