entry @persistent_batched_product(%arg0: tile<ptr<f16>>, %arg1: tile<i32>, %arg2: tile<i32>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<ptr<f16>>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<i32>, %arg11: tile<i32>, %arg12: tile<i32>, %arg13: tile<i32>, %arg14: tile<ptr<f16>>, %arg15: tile<i32>, %arg16: tile<i32>, %arg17: tile<i32>, %arg18: tile<i32>, %arg19: tile<i32>, %arg20: tile<i32>, %arg21: tile<i32>) optimization_hints=<default = {num_cta_in_cga = 2, occupancy = 1}> {
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
  %cst_64_i32 = constant <i32: 64> : tile<i32>
  %pview = make_partition_view %tview_30 : partition_view<tile=(1x256x256), tensor_view<?x?x?xf16, strides=[?,?,1]>>
  %1:3 = get_index_space_shape %pview : partition_view<tile=(1x256x256), tensor_view<?x?x?xf16, strides=[?,?,1]>> -> tile<i32>
  %pview_31 = make_partition_view %tview_30 : partition_view<tile=(1x256x256), tensor_view<?x?x?xf16, strides=[?,?,1]>>
  %2:3 = get_index_space_shape %pview_31 : partition_view<tile=(1x256x256), tensor_view<?x?x?xf16, strides=[?,?,1]>> -> tile<i32>
  %pview_32 = make_partition_view %tview_30 : partition_view<tile=(1x256x256), tensor_view<?x?x?xf16, strides=[?,?,1]>>
  %3:3 = get_index_space_shape %pview_32 : partition_view<tile=(1x256x256), tensor_view<?x?x?xf16, strides=[?,?,1]>> -> tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %4 = muli %3#0, %1#1 : tile<i32>
  %5 = muli %4, %2#2 : tile<i32>
  %gridSize_x, %gridSize_y, %gridSize_z = get_num_tile_blocks : tile<i32>
  %6 = muli %1#1, %2#2 : tile<i32>
  %7 = muli %1#1, %2#2 : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %8 = cmpi less_than %7, %cst_0_i32, signed : tile<i32> -> tile<i1>
  %cst_0_i32_33 = constant <i32: 0> : tile<i32>
  %9 = cmpi less_than %2#2, %cst_0_i32_33, signed : tile<i32> -> tile<i1>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<256x256xf32>
  %10 = divi %arg21, %cst_64_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32_34 = constant <i32: 0> : tile<i32>
  %cst_1_i32_35 = constant <i32: 1> : tile<i32>
  %pview_36 = make_partition_view %tview : partition_view<tile=(1x256x64), padding_value = zero, tensor_view<?x?x?xf16, strides=[?,?,1]>>
  %pview_37 = make_partition_view %tview_22 : partition_view<tile=(1x64x256), padding_value = zero, tensor_view<?x?x?xf16, strides=[?,?,1]>>
  %pview_38 = make_partition_view %tview_30 : partition_view<tile=(1x256x256), tensor_view<?x?x?xf16, strides=[?,?,1]>>
  %for = for %loopIdx in (%blockId_x to %5, step %gridSize_x) : tile<i32> iter_values(%iterArg0 = %0) -> (token) {
    %11 = divi %loopIdx, %6 signed rounding<negative_inf> : tile<i32>
    %12 = remi %loopIdx, %7 signed : tile<i32>
    %13 = cmpi less_than %12, %cst_0_i32, signed : tile<i32> -> tile<i1>
    %14 = xori %13, %8 : tile<i1>
    %15 = cmpi not_equal %12, %cst_0_i32, signed : tile<i32> -> tile<i1>
    %16 = andi %14, %15 : tile<i1>
    %17 = addi %12, %7 : tile<i32>
    %18 = select %16, %17, %12 : tile<i1>, tile<i32>
    %19 = divi %18, %2#2 signed rounding<negative_inf> : tile<i32>
    %20 = remi %18, %2#2 signed : tile<i32>
    %21 = cmpi less_than %20, %cst_0_i32_33, signed : tile<i32> -> tile<i1>
    %22 = xori %21, %9 : tile<i1>
    %23 = cmpi not_equal %20, %cst_0_i32_33, signed : tile<i32> -> tile<i1>
    %24 = andi %22, %23 : tile<i1>
    %25 = addi %20, %2#2 : tile<i32>
    %26 = select %24, %25, %20 : tile<i1>, tile<i32>
    %for_39 = for %loopIdx_40 in (%cst_0_i32_34 to %10, step %cst_1_i32_35) : tile<i32> iter_values(%iterArg0_41 = %cst_0_f32) -> (tile<256x256xf32>) {
      %tile, %result_token = load_view_tko weak %pview_36[%11, %19, %loopIdx_40] token = %0 : partition_view<tile=(1x256x64), padding_value = zero, tensor_view<?x?x?xf16, strides=[?,?,1]>>, tile<i32> -> tile<1x256x64xf16>, token
      %tile_42, %result_token_43 = load_view_tko weak %pview_37[%11, %loopIdx_40, %26] token = %0 : partition_view<tile=(1x64x256), padding_value = zero, tensor_view<?x?x?xf16, strides=[?,?,1]>>, tile<i32> -> tile<1x64x256xf16>, token
      %reshape_44 = reshape %tile : tile<1x256x64xf16> -> tile<256x64xf16>
      %reshape_45 = reshape %tile_42 : tile<1x64x256xf16> -> tile<64x256xf16>
      %29 = mmaf %reshape_44, %reshape_45, %iterArg0_41 : tile<256x64xf16>, tile<64x256xf16>, tile<256x256xf32>
      continue %29 : tile<256x256xf32>
    }
    %27 = ftof %for_39  : tile<256x256xf32> -> tile<256x256xf16>
    %reshape = reshape %27 : tile<256x256xf16> -> tile<1x256x256xf16>
    %28 = store_view_tko weak %reshape, %pview_38[%11, %19, %26] token = %iterArg0 : tile<1x256x256xf16>, partition_view<tile=(1x256x256), tensor_view<?x?x?xf16, strides=[?,?,1]>>, tile<i32> -> token
    continue %28 : token
  }
  return
}
