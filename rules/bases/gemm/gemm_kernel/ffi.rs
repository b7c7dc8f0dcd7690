// Export of gemm: c = a @ b, in two variants chosen by `persistent`.

use core::ffi::c_void;
use cuda_core::{Device, Stream};
use cutile::half::{bf16, f16};
use cutile::prelude::*;
use cutile::tile_kernel::{CompileOptions, TileKernel};

use crate::ffi_util::{TensorDesc, borrow_tensor, dtype_str};
use gemm_module::{direct_gemm_kernel, persistent_gemm_kernel};

/// # Safety
/// The descriptors point at live tensors of one dtype: c [m, n], a [m, k], b [k, n].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cutile_gemm(
    c: *const TensorDesc,
    a: *const TensorDesc,
    b: *const TensorDesc,
    bm: i32,
    bn: i32,
    bk: i32,
    num_programs: i32,
    // <= 0: left to the compiler
    num_cta_in_cga: i32,
    occupancy: i32,
    // 0: direct, else persistent
    persistent: i32,
    device_id: i32,
    raw_stream: u64,
) -> i32 {
    if c.is_null() || a.is_null() || b.is_null() {
        return -5;
    }
    let (c_d, a_d, b_d) = unsafe { (&*c, &*a, &*b) };
    let dty = match dtype_str(a_d.dtype) {
        Some(name) => name,
        None => return -2,
    };
    let cast = i32::from(dty == "f32");
    let (m, k, n) = (a_d.dim(0), a_d.dim(1), b_d.dim(1));

    let device = match Device::new(device_id.max(0) as usize) {
        Ok(found) => found,
        Err(e) => {
            eprintln!("cutile_gemm: no device {device_id}: {e:?}");
            return -4;
        }
    };
    let stream = unsafe { Stream::borrow_raw(raw_stream as *mut c_void, &device) };

    macro_rules! dispatch {
        ($E:ty) => {{
            let c_t = unsafe { borrow_tensor::<$E>(c_d) };
            let a_t = unsafe { borrow_tensor::<$E>(a_d) };
            let b_t = unsafe { borrow_tensor::<$E>(b_d) };

            let mut opts = CompileOptions::default();
            if occupancy > 0 {
                opts = opts.occupancy(occupancy);
            }
            if num_cta_in_cga > 0 {
                opts = opts.num_cta_in_cga(num_cta_in_cga);
            }

            // <E, BM, BN, BK, CAST_TF32> for both
            let generics = vec![
                dty.to_string(),
                bm.to_string(),
                bn.to_string(),
                bk.to_string(),
                cast.to_string(),
            ];
            if persistent != 0 {
                let op = unsafe { persistent_gemm_kernel(&*c_t, &*a_t, &*b_t, m, n, k) }
                    .generics(generics)
                    .grid((num_programs as u32, 1, 1))
                    .compile_options(opts);
                match op.sync_on(&stream) {
                    Ok(_) => 0,
                    Err(e) => {
                        eprintln!("cutile_gemm (persistent): {e:?}");
                        -3
                    }
                }
            } else {
                let op = unsafe { direct_gemm_kernel(&*c_t, &*a_t, &*b_t, n, k) }
                    .generics(generics)
                    .grid((num_programs as u32, 1, 1))
                    .compile_options(opts);
                match op.sync_on(&stream) {
                    Ok(_) => 0,
                    Err(e) => {
                        eprintln!("cutile_gemm (direct): {e:?}");
                        -3
                    }
                }
            }
        }};
    }

    match dty {
        "f32" => dispatch!(f32),
        "f16" => dispatch!(f16),
        "bf16" => dispatch!(bf16),
        _ => -2,
    }
}
