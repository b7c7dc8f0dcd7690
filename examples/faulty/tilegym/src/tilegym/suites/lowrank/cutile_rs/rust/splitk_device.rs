// C[M, N] += A @ B over the K steps of one slice; grid: tile row, tile column, slice.

#[cutile::module]
pub mod splitk_product_module {
    use cutile::core::*;

    #[cutile::entry(unchecked_accesses = true)]
    pub unsafe fn splitk_product_kernel<
        E: ElementType,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const SPLIT_K: i32,
    >(
        c_ptr: *mut f32,
        a: &Tensor<E, { [-1, -1] }>,
        b: &Tensor<E, { [-1, -1] }>,
        m: i32,
        n: i32,
        k: i32,
    ) {
        let c_ptr = unsafe { assume_div_by::<_, 16>(c_ptr) };
        let (row, col, slice) = get_tile_block_id();

        // steps of this slice: the first slices take the rounded-up share
        let steps: i32 = (k + BK - 1) / BK;
        let share: i32 = (steps + SPLIT_K - 1) / SPLIT_K;
        let first: i32 = slice * share;
        let last: i32 = min(first + share, steps);

        let a_part: Partition<E, { [BM, BK] }> = a.partition(const_shape![BM, BK]);
        let b_part: Partition<E, { [BK, BN] }> =
            b.partition_permuted(const_shape![BK, BN], const_array![1, 0]);
        let mut acc: Tile<f32, { [BM, BN] }> = constant(0.0f32, const_shape![BM, BN]);
        for step in first..last {
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

        // element offsets row * n + col, and which of them are inside
        let row_start: Tile<i32, { [BM] }> = broadcast_scalar(row * BM, const_shape![BM]);
        let row_lane: Tile<i32, { [BM] }> = iota(const_shape![BM]);
        let rows: Tile<i32, { [BM] }> = row_start + row_lane;
        let rows_col: Tile<i32, { [BM, 1] }> = rows.reshape(const_shape![BM, 1]);
        let rows_all: Tile<i32, { [BM, BN] }> = rows_col.broadcast(const_shape![BM, BN]);
        let col_start: Tile<i32, { [BN] }> = broadcast_scalar(col * BN, const_shape![BN]);
        let col_lane: Tile<i32, { [BN] }> = iota(const_shape![BN]);
        let cols: Tile<i32, { [BN] }> = col_start + col_lane;
        let cols_row: Tile<i32, { [1, BN] }> = cols.reshape(const_shape![1, BN]);
        let cols_all: Tile<i32, { [BM, BN] }> = cols_row.broadcast(const_shape![BM, BN]);
        let width: Tile<i32, { [BM, BN] }> = broadcast_scalar(n, const_shape![BM, BN]);
        let height: Tile<i32, { [BM, BN] }> = broadcast_scalar(m, const_shape![BM, BN]);
        let in_rows: Tile<bool, { [BM, BN] }> = cmpi(rows_all, height, predicate::LessThan);
        let in_cols: Tile<bool, { [BM, BN] }> = cmpi(cols_all, width, predicate::LessThan);
        let inside: Tile<bool, { [BM, BN] }> = andi(in_rows, in_cols);
        let offset: Tile<i32, { [BM, BN] }> = rows_all * width + cols_all;

        let base: PointerTile<*mut f32, { [] }> = pointer_to_tile(c_ptr);
        let one: PointerTile<*mut f32, { [1, 1] }> = base.reshape(const_shape![1, 1]);
        let all: PointerTile<*mut f32, { [BM, BN] }> = one.broadcast(const_shape![BM, BN]);
        let at: PointerTile<*mut f32, { [BM, BN] }> = all.offset_tile(offset);
        let (_before, _done): (Tile<f32, { [BM, BN] }>, Token) = atomic_rmw_tko(
            at,
            acc,
            atomic::AddF,
            ordering::Relaxed,
            scope::Device,
            Some(inside),
            None,
        );
    }
}
