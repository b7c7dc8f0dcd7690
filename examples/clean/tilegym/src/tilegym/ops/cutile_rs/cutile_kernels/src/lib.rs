// Every op is a module of its own: device code first, then the export that launches it.

#[path = "../../ffi_util.rs"]
mod ffi_util;

mod fused_rms_norm {
    include!("../../fused_rms_norm_kernel/kernel.rs");
    include!("../../fused_rms_norm_kernel/ffi.rs");
}
