// C = alpha * A @ B. The persistent entry strides over the tiles in groups of GROUP_M tile rows, so that blocks which
// run side by side share columns of B in the cache; the direct entry takes one tile per program.

#[cutile::module]
pub mod gemm_module {
    use cutile::core::*;

    #[cutile::entry(
        unchecked_accesses = true,
        optimization_hints = (
            sm_100 = (num_cta_in_cga = 2, occupancy = 1,),
        ),
    )]
    pub unsafe fn persistent_gemm_kernel<
        E: ElementType,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const GROUP_M: i32,
    >(
        c: &Tensor<E, { [-1, -1] }>,
        a: &Tensor<E, { [-1, -1] }>,
        b: &Tensor<E, { [-1, -1] }>,
        m: i32,
        n: i32,
        k: i32,
        alpha: f32,
    ) {
        let m = unsafe { assume_bounds_lower::<_, 0>(m) };
        let n = unsafe { assume_bounds_lower::<_, 0>(n) };
        let k = unsafe { assume_bounds_lower::<_, 0>(k) };
        let tiles_m: i32 = (m + BM - 1) / BM;
        let tiles_n: i32 = (n + BN - 1) / BN;
        let tiles_k: i32 = (k + BK - 1) / BK;
        let tiles: i32 = tiles_m * tiles_n;
        let tiles_in_group: i32 = GROUP_M * tiles_n;

        let program: i32 = get_tile_block_id().0;
        let programs: i32 = get_num_tile_blocks().0;

        let a_part: Partition<E, { [BM, BK] }> = a.partition(const_shape![BM, BK]);
        let b_part: Partition<E, { [BK, BN] }> = b.partition(const_shape![BK, BN]);
        let mut c_part: PartitionMut<E, { [BM, BN] }> =
            unsafe { c.partition_full_mut(const_shape![BM, BN]) };

        for tile in (program..tiles).step_by(programs as usize) {
            let group: i32 = tile / tiles_in_group;
            let first_row: i32 = group * GROUP_M;
            let rows_left: i32 = tiles_m - first_row;
            let rows: i32 = min(rows_left, GROUP_M);
            let in_group: i32 = tile % tiles_in_group;
            let row: i32 = first_row + in_group % rows;
            let col: i32 = in_group / rows;

            let mut acc: Tile<f32, { [BM, BN] }> = constant(0.0f32, const_shape![BM, BN]);
            for step in 0i32..tiles_k {
                let a_tile: Tile<E, { [BM, BK] }> = load_view_tko(
                    &a_part,
                    [row, step],
                    ordering::Weak,
                    scope::TileBlock,
                    None,
                    tma::Enabled,
                );
                let b_tile: Tile<E, { [BK, BN] }> = load_view_tko(
                    &b_part,
                    [step, col],
                    ordering::Weak,
                    scope::TileBlock,
                    None,
                    tma::Enabled,
                );
                acc = mmaf(a_tile, b_tile, acc);
            }

            let factor: Tile<f32, { [BM, BN] }> = broadcast_scalar(alpha, const_shape![BM, BN]);
            let scaled: Tile<f32, { [BM, BN] }> = acc * factor;
            let result: Tile<E, { [BM, BN] }> = convert_tile(scaled);
            unsafe {
                store_view_tko_mut(
                    &mut c_part,
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

    #[cutile::entry(unchecked_accesses = true)]
    pub unsafe fn direct_gemm_kernel<E: ElementType, const BM: i32, const BN: i32, const BK: i32>(
        c: &Tensor<E, { [-1, -1] }>,
        a: &Tensor<E, { [-1, -1] }>,
        b: &Tensor<E, { [-1, -1] }>,
        n: i32,
        k: i32,
        alpha: f32,
    ) {
        let tiles_n: i32 = (n + BN - 1) / BN;
        let tiles_k: i32 = (k + BK - 1) / BK;
        let tile: i32 = get_tile_block_id().0;
        let row: i32 = tile / tiles_n;
        let col: i32 = tile % tiles_n;

        let a_part: Partition<E, { [BM, BK] }> = a.partition(const_shape![BM, BK]);
        let b_part: Partition<E, { [BK, BN] }> = b.partition(const_shape![BK, BN]);
        let mut c_part: PartitionMut<E, { [BM, BN] }> =
            unsafe { c.partition_full_mut(const_shape![BM, BN]) };

        let mut acc: Tile<f32, { [BM, BN] }> = constant(0.0f32, const_shape![BM, BN]);
        for step in 0i32..tiles_k {
            let a_tile: Tile<E, { [BM, BK] }> = load_view_tko(
                &a_part,
                [row, step],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
            let b_tile: Tile<E, { [BK, BN] }> = load_view_tko(
                &b_part,
                [step, col],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
            acc = mmaf(a_tile, b_tile, acc);
        }

        let factor: Tile<f32, { [BM, BN] }> = broadcast_scalar(alpha, const_shape![BM, BN]);
        let scaled: Tile<f32, { [BM, BN] }> = acc * factor;
        let result: Tile<E, { [BM, BN] }> = convert_tile(scaled);
        unsafe {
            store_view_tko_mut(
                &mut c_part,
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
