// c[Q, M, N] = op(a) @ op(b), f32 accumulator. The persistent entry loads a transposed operand as it lies in memory.

#[cutile::module]
pub mod batched_module {
    use cutile::core::*;

    #[cutile::entry(unchecked_accesses = true)]
    pub unsafe fn persistent_kernel<
        E: ElementType,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const TRANS_A: i32,
        const TRANS_B: i32,
    >(
        c: &Tensor<E, { [-1, -1, -1] }>,
        a: &Tensor<E, { [-1, -1, -1] }>,
        b: &Tensor<E, { [-1, -1, -1] }>,
        q: i32,
        m: i32,
        n: i32,
        k: i32,
    ) {
        let tiles_m: i32 = (m + BM - 1) / BM;
        let tiles_n: i32 = (n + BN - 1) / BN;
        let tiles_k: i32 = (k + BK - 1) / BK;
        let tiles: i32 = tiles_m * tiles_n * q;
        let program: i32 = get_tile_block_id().0;
        let programs: i32 = get_num_tile_blocks().0;
        let mut c_part: PartitionMut<E, { [1, BM, BN] }> =
            unsafe { c.partition_full_mut(const_shape![1, BM, BN]) };

        for tile in (program..tiles).step_by(programs as usize) {
            let batch: i32 = tile / (tiles_m * tiles_n);
            let rest: i32 = tile % (tiles_m * tiles_n);
            let row: i32 = rest / tiles_n;
            let col: i32 = rest % tiles_n;
            let mut acc: Tile<f32, { [BM, BN] }> = constant(0.0f32, const_shape![BM, BN]);
            for step in 0i32..tiles_k {
                let a_plain_part: Partition<E, { [1, BM, BK] }> = a.partition(const_shape![1, BM, BK]);
                let a_plain: Tile<E, { [1, BM, BK] }> = load_view_tko(
                    &a_plain_part, [batch, row, step], ordering::Weak, scope::TileBlock, None, tma::Enabled,
                );
                let mut a_tile: Tile<E, { [BM, BK] }> = a_plain.reshape(const_shape![BM, BK]);
                if TRANS_A == 1i32 {
                    let a_part: Partition<E, { [1, BK, BM] }> = a.partition(const_shape![1, BK, BM]);
                    let a_raw: Tile<E, { [1, BK, BM] }> = load_view_tko(
                        &a_part, [batch, step, row], ordering::Weak, scope::TileBlock, None, tma::Enabled,
                    );
                    let a_turned: Tile<E, { [1, BM, BK] }> = permute(a_raw, const_array![0, 2, 1]);
                    a_tile = a_turned.reshape(const_shape![BM, BK]);
                } else {
                    a_tile = a_tile;
                }
                let b_plain_part: Partition<E, { [1, BK, BN] }> = b.partition(const_shape![1, BK, BN]);
                let b_plain: Tile<E, { [1, BK, BN] }> = load_view_tko(
                    &b_plain_part, [batch, step, col], ordering::Weak, scope::TileBlock, None, tma::Enabled,
                );
                let mut b_tile: Tile<E, { [BK, BN] }> = b_plain.reshape(const_shape![BK, BN]);
                if TRANS_B == 1i32 {
                    let b_part: Partition<E, { [1, BK, BN] }> =
                        b.partition_permuted(const_shape![1, BK, BN], const_array![0, 2, 1]);
                    let b_raw: Tile<E, { [1, BK, BN] }> = load_view_tko(
                        &b_part, [batch, step, col], ordering::Weak, scope::TileBlock, None, tma::Enabled,
                    );
                    b_tile = b_raw.reshape(const_shape![BK, BN]);
                } else {
                    b_tile = b_tile;
                }
                acc = mmaf(a_tile, b_tile, acc);
            }
            let flat: Tile<E, { [BM, BN] }> = convert_tile(acc);
            let result: Tile<E, { [1, BM, BN] }> = flat.reshape(const_shape![1, BM, BN]);
            unsafe {
                store_view_tko_mut(
                    &mut c_part, result, [batch, row, col], ordering::Weak, scope::TileBlock, None, tma::Enabled,
                );
            }
        }
    }

    #[cutile::entry(unchecked_accesses = true)]
    pub unsafe fn direct_kernel<E: ElementType, const BM: i32, const BN: i32, const BK: i32>(
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
        let tile: i32 = get_tile_block_id().0;
        let batch: i32 = tile / (tiles_m * tiles_n);
        let rest: i32 = tile % (tiles_m * tiles_n);
        let row: i32 = rest / tiles_n;
        let col: i32 = rest % tiles_n;
        let left: Partition<E, { [1, BM, BK] }> = a.partition(const_shape![1, BM, BK]);
        let right: Partition<E, { [1, BK, BN] }> = b.partition(const_shape![1, BK, BN]);
        let mut c_part: PartitionMut<E, { [1, BM, BN] }> =
            unsafe { c.partition_full_mut(const_shape![1, BM, BN]) };
        let mut acc: Tile<f32, { [BM, BN] }> = constant(0.0f32, const_shape![BM, BN]);
        for step in 0i32..tiles_k {
            let left_raw: Tile<E, { [1, BM, BK] }> = load_view_tko(
                &left, [batch, row, step], ordering::Weak, scope::TileBlock, None, tma::Enabled,
            );
            let right_raw: Tile<E, { [1, BK, BN] }> = load_view_tko(
                &right, [batch, step, col], ordering::Weak, scope::TileBlock, None, tma::Enabled,
            );
            let left_tile: Tile<E, { [BM, BK] }> = left_raw.reshape(const_shape![BM, BK]);
            let right_tile: Tile<E, { [BK, BN] }> = right_raw.reshape(const_shape![BK, BN]);
            acc = mmaf(left_tile, right_tile, acc);
        }
        let flat: Tile<E, { [BM, BN] }> = convert_tile(acc);
        let result: Tile<E, { [1, BM, BN] }> = flat.reshape(const_shape![1, BM, BN]);
        unsafe {
            store_view_tko_mut(
                &mut c_part, result, [batch, row, col], ordering::Weak, scope::TileBlock, None, tma::Enabled,
            );
        }
    }
}
