// Device side of row_scale: one tile block per BM x BN tile, tiles numbered along the rows.

#[cutile::module]
pub mod row_scale_module {
    use cutile::core::*;

    #[cutile::entry()]
    pub unsafe fn row_scale_kernel<E: ElementType, const BM: i32, const BN: i32>(
        y: &Tensor<E, { [-1, -1] }>,
        x: &Tensor<E, { [-1, -1] }>,
        scale: &Tensor<E, { [-1] }>,
    ) {
        let x_shape: Shape<{ [-1, -1] }> = x.shape();
        let n: i32 = x_shape[1];
        let tiles_n: i32 = (n + BN - 1i32) / BN;
        let tile: i32 = get_tile_block_id().0;
        let row: i32 = tile / tiles_n;
        let col: i32 = tile % tiles_n;

        let x_part: Partition<E, { [BM, BN] }> = x.partition(const_shape![BM, BN]);
        let scale_part: Partition<E, { [BM] }> = scale.partition(const_shape![BM]);
        let x_tile: Tile<E, { [BM, BN] }> = load_view_tko(
            &x_part,
            [row, col],
            ordering::Weak,
            scope::TileBlock,
            None,
            tma::Enabled,
        );
        let scale_tile: Tile<E, { [BM] }> = load_view_tko(
            &scale_part,
            [row],
            ordering::Weak,
            scope::TileBlock,
            None,
            tma::Enabled,
        );

        let x_f32: Tile<f32, { [BM, BN] }> = convert_tile(x_tile);
        let scale_f32: Tile<f32, { [BM] }> = convert_tile(scale_tile);
        let factor: Tile<f32, { [BM, BN] }> = scale_f32
            .reshape(const_shape![BM, 1])
            .broadcast(const_shape![BM, BN]);
        let product: Tile<f32, { [BM, BN] }> = x_f32 * factor;
        let result: Tile<E, { [BM, BN] }> = convert_tile(product);

        let mut y_part: PartitionMut<E, { [BM, BN] }> =
            unsafe { y.partition_full_mut(const_shape![BM, BN]) };
        unsafe {
            store_view_tko_mut(
                &mut y_part,
                result,
                [row, col],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
        }
    }
}
