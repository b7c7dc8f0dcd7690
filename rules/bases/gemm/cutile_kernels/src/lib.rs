//! All kernels of the suite in one library.

#[path = "../../ffi_util.rs"]
mod ffi_util;

mod gemm {
    include!("../../gemm_kernel/kernel.rs");
    include!("../../gemm_kernel/ffi.rs");
}
