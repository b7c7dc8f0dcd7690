-- cutile-lint for Neovim 0.11 and later: put this file into lsp/ of your configuration and say vim.lsp.enable("cutile_lint").
return {
  cmd = { "cutile-lint", "server" },
  filetypes = { "python", "rust", "mlir" },
  root_markers = { "cutile-lint.toml", "pyproject.toml", ".git" },
  init_options = { settings = {} },
}
