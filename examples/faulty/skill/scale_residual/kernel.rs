// out[i] = residual[i] + alpha * x[i], one block of BLOCK elements per program, the tail masked.

#[cutile::module]
pub mod scale_residual_module {
    use cutile::core::*;

    #[cutile::entry()]
    pub unsafe fn scale_residual_kernel<E: ElementType, const BLOCK: i32>(
        out_ptr: *mut E,
        x_ptr: *mut E,
        residual_ptr: *mut E,
        n: i32,
        alpha: f32,
    ) {
        // torch allocations are aligned to 16 bytes and more
        let out_ptr = unsafe { assume_div_by::<_, 16>(out_ptr) };
        let x_ptr = unsafe { assume_div_by::<_, 16>(x_ptr) };
        let residual_ptr = unsafe { assume_div_by::<_, 16>(residual_ptr) };

        let first: i32 = get_tile_block_id().0 * BLOCK;
        let lane: Tile<i32, { [BLOCK] }> = iota(const_shape![BLOCK]);
        let start: Tile<i32, { [BLOCK] }> = broadcast_scalar(first, const_shape![BLOCK]);
        let index: Tile<i32, { [BLOCK] }> = lane + start;
        let end: Tile<i32, { [BLOCK] }> = broadcast_scalar(n, const_shape![BLOCK]);
        let live: Tile<bool, { [BLOCK] }> = cmpi(index, end, predicate::LessThan);

        let x_base: PointerTile<*mut E, { [] }> = pointer_to_tile(x_ptr);
        let x_one: PointerTile<*mut E, { [1] }> = x_base.reshape(const_shape![1]);
        let x_row: PointerTile<*mut E, { [BLOCK] }> = x_one.broadcast(const_shape![BLOCK]);
        let x_at: PointerTile<*mut E, { [BLOCK] }> = x_row.offset_tile(index);
        let (x_raw, _x_done): (Tile<E, { [BLOCK] }>, Token) = load_ptr_tko(
            x_at,
            ordering::Weak,
            None::<scope::TileBlock>,
            Some(live),
            None::<E>,
            None::<Token>,
            Latency::<0>,
        );

        let r_base: PointerTile<*mut E, { [] }> = pointer_to_tile(residual_ptr);
        let r_one: PointerTile<*mut E, { [1] }> = r_base.reshape(const_shape![1]);
        let r_row: PointerTile<*mut E, { [BLOCK] }> = r_one.broadcast(const_shape![BLOCK]);
        let r_at: PointerTile<*mut E, { [BLOCK] }> = r_row.offset_tile(index);
        let (r_raw, _r_done): (Tile<E, { [BLOCK] }>, Token) = load_ptr_tko(
            r_at,
            ordering::Weak,
            None::<scope::TileBlock>,
            Some(live),
            None::<E>,
            None::<Token>,
            Latency::<0>,
        );

        // f32 inside, whatever E is
        let x_f32: Tile<f32, { [BLOCK] }> = convert_tile(x_raw);
        let r_f32: Tile<f32, { [BLOCK] }> = convert_tile(r_raw);
        let factor: Tile<f32, { [BLOCK] }> = broadcast_scalar(alpha, const_shape![BLOCK]);
        let sum: Tile<f32, { [BLOCK] }> =
            fma(x_f32, factor, r_f32, rounding::NearestEven, ftz::Disabled);
        let result: Tile<E, { [BLOCK] }> = convert_tile(sum);

        let out_base: PointerTile<*mut E, { [] }> = pointer_to_tile(out_ptr);
        let out_one: PointerTile<*mut E, { [1] }> = out_base.reshape(const_shape![1]);
        let out_row: PointerTile<*mut E, { [BLOCK] }> = out_one.broadcast(const_shape![BLOCK]);
        let out_at: PointerTile<*mut E, { [BLOCK] }> = out_row.offset_tile(index);
        let _stored: Token = store_ptr_tko(
            out_at,
            result,
            ordering::Weak,
            None::<scope::TileBlock>,
            Some(live),
            None::<Token>,
            Latency::<0>,
        );
    }
}
