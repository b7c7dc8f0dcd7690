// h = x + residual; out = h * rsqrt(mean(h * h) + eps) * weight. One block per BM rows, BN >= cols.

#[cutile::module]
pub mod fused_rms_norm_module {
    use cutile::core::*;

    #[cutile::entry(unchecked_accesses = true)]
    pub unsafe fn fused_rms_norm_kernel<E: ElementType, const BM: i32, const BN: i32>(
        out: &Tensor<E, { [-1, -1] }>,
        hidden: &Tensor<E, { [-1, -1] }>,
        x: &Tensor<E, { [-1, -1] }>,
        residual: &Tensor<E, { [-1, -1] }>,
        weight: &Tensor<E, { [-1] }>,
        inv_cols: f32,
        eps: f32,
    ) {
        let block: i32 = get_tile_block_id().0;

        let x_part: Partition<E, { [BM, BN] }> = x.partition(const_shape![BM, BN]);
        let residual_part: Partition<E, { [BM, BN] }> = residual.partition(const_shape![BM, BN]);
        let weight_part: Partition<E, { [BN] }> = weight.partition(const_shape![BN]);
        let mut out_part: PartitionMut<E, { [BM, BN] }> =
            unsafe { out.partition_full_mut(const_shape![BM, BN]) };
        let mut hidden_part: PartitionMut<E, { [BM, BN] }> =
            unsafe { hidden.partition_full_mut(const_shape![BM, BN]) };

        let x_tile: Tile<E, { [BM, BN] }> = load_view_tko(
            &x_part,
            [block, 0i32],
            ordering::Weak,
            scope::TileBlock,
            None,
            tma::Enabled,
        );
        let residual_tile: Tile<E, { [BM, BN] }> = load_view_tko(
            &residual_part,
            [block, 0i32],
            ordering::Weak,
            scope::TileBlock,
            None,
            tma::Enabled,
        );
        let weight_tile: Tile<E, { [BN] }> = load_view_tko(
            &weight_part,
            [0i32],
            ordering::Weak,
            scope::TileBlock,
            None,
            tma::Enabled,
        );

        let x_f32: Tile<f32, { [BM, BN] }> = convert_tile(x_tile);
        let residual_f32: Tile<f32, { [BM, BN] }> = convert_tile(residual_tile);
        let h: Tile<f32, { [BM, BN] }> = x_f32 + residual_f32;

        // columns beyond the row are padded with zero and add nothing
        let squares: Tile<f32, { [BM, BN] }> = h * h;
        let total: Tile<f32, { [BM] }> = reduce_sum(squares, 1i32);
        let scale: Tile<f32, { [BM] }> = broadcast_scalar(inv_cols, const_shape![BM]);
        let floor: Tile<f32, { [BM] }> = broadcast_scalar(eps, const_shape![BM]);
        let mean: Tile<f32, { [BM] }> = total * scale;
        let shifted: Tile<f32, { [BM] }> = mean + floor;
        let inv_rms: Tile<f32, { [BM] }> = rsqrt(shifted, ftz::Disabled);
        let inv_col: Tile<f32, { [BM, 1] }> = inv_rms.reshape(const_shape![BM, 1]);
        let inv_all: Tile<f32, { [BM, BN] }> = inv_col.broadcast(const_shape![BM, BN]);

        let weight_f32: Tile<f32, { [BN] }> = convert_tile(weight_tile);
        let weight_row: Tile<f32, { [1, BN] }> = weight_f32.reshape(const_shape![1, BN]);
        let weight_all: Tile<f32, { [BM, BN] }> = weight_row.broadcast(const_shape![BM, BN]);

        let normed: Tile<f32, { [BM, BN] }> = h * inv_all;
        let result: Tile<f32, { [BM, BN] }> = normed * weight_all;
        let hidden_out: Tile<E, { [BM, BN] }> = convert_tile(h);
        let result_out: Tile<E, { [BM, BN] }> = convert_tile(result);

        unsafe {
            store_view_tko_mut(
                &mut hidden_part,
                hidden_out,
                [block, 0i32],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
            store_view_tko_mut(
                &mut out_part,
                result_out,
                [block, 0i32],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
        }
    }
}
