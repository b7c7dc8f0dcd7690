// Device side of gemm: f32 accumulators, f32 operands multiplied as tf32.

#[cutile::module]
pub mod gemm_module {
    use cutile::core::*;

    /// One program per BM x BN tile of c.
    #[cutile::entry()]
    pub unsafe fn direct_gemm_kernel<
        E: ElementType,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const CAST_TF32: i32,
    >(
        c: &Tensor<E, { [-1, -1] }>,
        a: &Tensor<E, { [-1, -1] }>,
        b: &Tensor<E, { [-1, -1] }>,
        n: i32,
        k: i32,
    ) {
        let tiles_n: i32 = (n + BN - 1i32) / BN;
        let steps: i32 = (k + BK - 1i32) / BK;
        let tile: i32 = get_tile_block_id().0;
        let tile_m: i32 = tile / tiles_n;
        let tile_n: i32 = tile % tiles_n;

        let a_part: Partition<E, { [BM, BK] }> = a.partition(const_shape![BM, BK]);
        let b_part: Partition<E, { [BK, BN] }> = b.partition(const_shape![BK, BN]);
        let mut c_part: PartitionMut<E, { [BM, BN] }> =
            unsafe { c.partition_full_mut(const_shape![BM, BN]) };

        let mut acc: Tile<f32, { [BM, BN] }> = constant(0.0f32, const_shape![BM, BN]);
        for step in 0i32..steps {
            let a_tile: Tile<E, { [BM, BK] }> = load_view_tko(
                &a_part,
                [tile_m, step],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
            let b_tile: Tile<E, { [BK, BN] }> = load_view_tko(
                &b_part,
                [step, tile_n],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
            if CAST_TF32 == 1i32 {
                let a_tf32: Tile<tf32, { [BM, BK] }> = convert_tile(a_tile);
                let b_tf32: Tile<tf32, { [BK, BN] }> = convert_tile(b_tile);
                acc = mmaf(a_tf32, b_tf32, acc);
            } else {
                acc = mmaf(a_tile, b_tile, acc);
            }
        }
        let result: Tile<E, { [BM, BN] }> = convert_tile(acc);
        unsafe {
            store_view_tko_mut(
                &mut c_part,
                result,
                [tile_m, tile_n],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
        }
    }

    /// Programs stride over the tiles of c.
    #[cutile::entry()]
    pub unsafe fn persistent_gemm_kernel<
        E: ElementType,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const CAST_TF32: i32,
    >(
        c: &Tensor<E, { [-1, -1] }>,
        a: &Tensor<E, { [-1, -1] }>,
        b: &Tensor<E, { [-1, -1] }>,
        m: i32,
        n: i32,
        k: i32,
    ) {
        let tiles_m: i32 = (m + BM - 1i32) / BM;
        let tiles_n: i32 = (n + BN - 1i32) / BN;
        let steps: i32 = (k + BK - 1i32) / BK;
        let tiles: i32 = tiles_m * tiles_n;
        let first: i32 = get_tile_block_id().0;
        let programs: i32 = get_num_tile_blocks().0;

        let a_part: Partition<E, { [BM, BK] }> = a.partition(const_shape![BM, BK]);
        let b_part: Partition<E, { [BK, BN] }> = b.partition(const_shape![BK, BN]);
        let mut c_part: PartitionMut<E, { [BM, BN] }> =
            unsafe { c.partition_full_mut(const_shape![BM, BN]) };

        for tile in (first..tiles).step_by(programs as usize) {
            let tile_m: i32 = tile / tiles_n;
            let tile_n: i32 = tile % tiles_n;

            let mut acc: Tile<f32, { [BM, BN] }> = constant(0.0f32, const_shape![BM, BN]);
            for step in 0i32..steps {
                let a_tile: Tile<E, { [BM, BK] }> = load_view_tko(
                    &a_part,
                    [tile_m, step],
                    ordering::Weak,
                    scope::TileBlock,
                    None,
                    tma::Enabled,
                );
                let b_tile: Tile<E, { [BK, BN] }> = load_view_tko(
                    &b_part,
                    [step, tile_n],
                    ordering::Weak,
                    scope::TileBlock,
                    None,
                    tma::Enabled,
                );
                if CAST_TF32 == 1i32 {
                    let a_tf32: Tile<tf32, { [BM, BK] }> = convert_tile(a_tile);
                    let b_tf32: Tile<tf32, { [BK, BN] }> = convert_tile(b_tile);
                    acc = mmaf(a_tf32, b_tf32, acc);
                } else {
                    acc = mmaf(a_tile, b_tile, acc);
                }
            }
            let result: Tile<E, { [BM, BN] }> = convert_tile(acc);
            unsafe {
                store_view_tko_mut(
                    &mut c_part,
                    result,
                    [tile_m, tile_n],
                    ordering::Weak,
                    scope::TileBlock,
                    None,
                    tma::Enabled,
                );
            }
        }
    }
}
