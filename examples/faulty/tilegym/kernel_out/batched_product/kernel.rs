// C[Q, M, N] = op(A) @ op(B). The persistent entry owns the transposes: it loads a tile in physical order and permutes
// the two inner axes. Tiles are counted column first, then row, then batch.

#[cutile::module]
pub mod batched_product_module {
    use cutile::core::*;

    #[cutile::entry(
        unchecked_accesses = true,
        optimization_hints = (
            sm_100 = (num_cta_in_cga = 2, occupancy = 1,),
        ),
    )]
    pub unsafe fn persistent_batched_product<
        E: ElementType,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const TRANSPOSE_A: i32,
        const TRANSPOSE_B: i32,
    >(
        c: &Tensor<E, { [-1, -1, -1] }>,
        a: &Tensor<E, { [-1, -1, -1] }>,
        b: &Tensor<E, { [-1, -1, -1] }>,
        q: i32,
        m: i32,
        n: i32,
        k: i32,
    ) {
        let q = unsafe { assume_bounds_lower::<_, 0>(q) };
        let tiles_m: i32 = (m + BM - 1) / BM;
        let tiles_n: i32 = (n + BN - 1) / BN;
        let tiles_k: i32 = (k + BK - 1) / BK;
        let tiles_in_batch: i32 = tiles_m * tiles_n;
        let tiles: i32 = tiles_in_batch * q;

        let program: i32 = get_tile_block_id().0;
        let programs: i32 = get_num_tile_blocks().0;
        let mut c_part: PartitionMut<E, { [1, BM, BN] }> =
            unsafe { c.partition_full_mut(const_shape![1, BM, BN]) };

        for tile in (program..tiles).step_by(programs as usize) {
            let batch: i32 = tile / tiles_in_batch;
            let in_batch: i32 = tile % tiles_in_batch;
            let row: i32 = in_batch / tiles_n;
            let col: i32 = in_batch % tiles_n;

            let mut acc: Tile<f32, { [BM, BN] }> = constant(0.0f32, const_shape![BM, BN]);
            for step in 0i32..tiles_k {
                let a_zero: Tile<f32, { [BM, BK] }> = constant(0.0f32, const_shape![BM, BK]);
                let mut a_tile: Tile<E, { [BM, BK] }> = convert_tile(a_zero);
                if TRANSPOSE_A == 1i32 {
                    let a_part: Partition<E, { [1, BK, BM] }> = a.partition(const_shape![1, BK, BM]);
                    let a_raw: Tile<E, { [1, BK, BM] }> = load_view_tko(
                        &a_part,
                        [batch, step, row],
                        ordering::Weak,
                        scope::TileBlock,
                        None,
                        tma::Enabled,
                    );
                    let a_turned: Tile<E, { [1, BM, BK] }> = permute(a_raw, const_array![0, 2, 1]);
                    a_tile = a_turned.reshape(const_shape![BM, BK]);
                } else {
                    let a_part: Partition<E, { [1, BM, BK] }> = a.partition(const_shape![1, BM, BK]);
                    let a_raw: Tile<E, { [1, BM, BK] }> = load_view_tko(
                        &a_part,
                        [batch, row, step],
                        ordering::Weak,
                        scope::TileBlock,
                        None,
                        tma::Enabled,
                    );
                    a_tile = a_raw.reshape(const_shape![BM, BK]);
                }

                let b_zero: Tile<f32, { [BK, BN] }> = constant(0.0f32, const_shape![BK, BN]);
                let mut b_tile: Tile<E, { [BK, BN] }> = convert_tile(b_zero);
                if TRANSPOSE_B == 1i32 {
                    let b_part: Partition<E, { [1, BN, BK] }> = b.partition(const_shape![1, BN, BK]);
                    let b_raw: Tile<E, { [1, BN, BK] }> = load_view_tko(
                        &b_part,
                        [batch, col, step],
                        ordering::Weak,
                        scope::TileBlock,
                        None,
                        tma::Enabled,
                    );
                    let b_turned: Tile<E, { [1, BK, BN] }> = permute(b_raw, const_array![0, 2, 1]);
                    b_tile = b_turned.reshape(const_shape![BK, BN]);
                } else {
                    let b_part: Partition<E, { [1, BK, BN] }> = b.partition(const_shape![1, BK, BN]);
                    let b_raw: Tile<E, { [1, BK, BN] }> = load_view_tko(
                        &b_part,
                        [batch, step, col],
                        ordering::Weak,
                        scope::TileBlock,
                        None,
                        tma::Enabled,
                    );
                    b_tile = b_raw.reshape(const_shape![BK, BN]);
                }

                acc = mmaf(a_tile, b_tile, acc);
            }

            let flat: Tile<E, { [BM, BN] }> = convert_tile(acc);
            let result: Tile<E, { [1, BM, BN] }> = flat.reshape(const_shape![1, BM, BN]);
            unsafe {
                store_view_tko_mut(
                    &mut c_part,
                    result,
                    [batch, row, col],
                    ordering::Weak,
                    scope::TileBlock,
                    None,
                    tma::Enabled,
                );
            }
        }
    }

    #[cutile::entry(unchecked_accesses = true)]
    pub unsafe fn direct_batched_product<E: ElementType, const BM: i32, const BN: i32, const BK: i32>(
        c: &Tensor<E, { [-1, -1, -1] }>,
        a: &Tensor<E, { [-1, -1, -1] }>,
        b: &Tensor<E, { [-1, -1, -1] }>,
        m: i32,
        n: i32,
        k: i32,
    ) {
        let tiles_m: i32 = (m + BM - 1) / BM;
        let tiles_n: i32 = (n + BN - 1) / BN;
        let tiles_k: i32 = (k + BK - 1) / BK;
        let tiles_in_batch: i32 = tiles_m * tiles_n;
        let tile: i32 = get_tile_block_id().0;
        let batch: i32 = tile / tiles_in_batch;
        let in_batch: i32 = tile % tiles_in_batch;
        let row: i32 = in_batch / tiles_n;
        let col: i32 = in_batch % tiles_n;

        let a_part: Partition<E, { [1, BM, BK] }> = a.partition(const_shape![1, BM, BK]);
        let b_part: Partition<E, { [1, BK, BN] }> = b.partition(const_shape![1, BK, BN]);
        let mut c_part: PartitionMut<E, { [1, BM, BN] }> =
            unsafe { c.partition_full_mut(const_shape![1, BM, BN]) };

        let mut acc: Tile<f32, { [BM, BN] }> = constant(0.0f32, const_shape![BM, BN]);
        for step in 0i32..tiles_k {
            let a_raw: Tile<E, { [1, BM, BK] }> = load_view_tko(
                &a_part,
                [batch, row, step],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
            let a_tile: Tile<E, { [BM, BK] }> = a_raw.reshape(const_shape![BM, BK]);
            let b_raw: Tile<E, { [1, BK, BN] }> = load_view_tko(
                &b_part,
                [batch, step, col],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
            let b_tile: Tile<E, { [BK, BN] }> = b_raw.reshape(const_shape![BK, BN]);
            acc = mmaf(a_tile, b_tile, acc);
        }

        let flat: Tile<E, { [BM, BN] }> = convert_tile(acc);
        let result: Tile<E, { [1, BM, BN] }> = flat.reshape(const_shape![1, BM, BN]);
        unsafe {
            store_view_tko_mut(
                &mut c_part,
                result,
                [batch, row, col],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
        }
    }
}
