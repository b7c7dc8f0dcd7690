-- cutile-lint for Neovim 0.11 and later: put this file into lsp/ and cutile-lint.lua into lua/ of your configuration,
-- and say require("cutile-lint").detect() and vim.lsp.enable("cutile_lint").
local cutile = require("cutile-lint")

cutile.make_command()

return {
  cmd = { "cutile-lint", "server" },
  filetypes = cutile.filetypes,
  root_dir = function(buffer, start)
    if cutile.wants(buffer) then
      start(cutile.root_of(vim.api.nvim_buf_get_name(buffer)))
    end
  end,
  init_options = { settings = vim.empty_dict() },
}
