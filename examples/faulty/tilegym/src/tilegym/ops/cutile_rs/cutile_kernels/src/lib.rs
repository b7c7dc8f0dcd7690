// Every op is a module of its own: device code first, then the export that launches it.

#[path = "../../ffi_util.rs"]
mod ffi_util;

mod fused_rms_norm {
    include!("../../fused_rms_norm_kernel/kernel.rs");
    include!("../../fused_rms_norm_kernel/ffi.rs");
}

mod gemm {
    include!("../../gemm_kernel/kernel.rs");
    include!("../../gemm_kernel/ffi.rs");
}

// generated into the pipeline's output folder, not yet mirrored beside the wrapper
mod batched_product {
    include!("../../../../../../kernel_out/batched_product/kernel.rs");
    include!("../../../../../../kernel_out/batched_product/ffi.rs");
}
