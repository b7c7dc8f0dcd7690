//! All kernels of the suite in one library.

#[path = "../../ffi_util.rs"]
mod ffi_util;

mod row_scale {
    include!("../../row_scale_kernel/kernel.rs");
    include!("../../row_scale_kernel/ffi.rs");
}
