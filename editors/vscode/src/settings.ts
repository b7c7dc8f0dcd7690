// What the server is started with, and what it is told: plain functions, so that they run without the editor.

export interface Configuration {
  get<T>(key: string, fallback: T): T;
}

/** The command line of the server. `folder` stands for `${workspaceFolder}`. */
export function commandLine(configuration: Configuration, folder: string | undefined): { command: string; args: string[] } {
  const path = configuration.get<string>("path", "cutile-lint").trim() || "cutile-lint";
  const args = configuration.get<string[]>("args", []);
  const fill = (text: string): string => text.split("${workspaceFolder}").join(folder ?? ".");
  return { command: fill(path), args: ["server", ...args.map(fill)] };
}

const KEYS: Record<string, unknown> = {
  config: "",
  select: [],
  extendSelect: [],
  ignore: [],
  targetArch: "",
  targetVersion: "",
  scope: "workspace",
  debounce: 5,
  hover: true,
  navigation: true,
  inlayHints: true,
  codeLens: true,
  docsUrl: "",
};

/** The settings that the server heeds. */
export function serverSettings(configuration: Configuration): Record<string, unknown> {
  return Object.fromEntries(Object.entries(KEYS).map(([key, fallback]) => [key, configuration.get(key, fallback)]));
}

/** Whether a change of settings needs another server process. */
export function needsRestart(changed: (key: string) => boolean): boolean {
  return ["enable", "path", "args"].some((key) => changed(`cutile-lint.${key}`));
}

/** Kinds of documents that the server is told of. */
export const DOCUMENTS = [
  { scheme: "file", language: "python" },
  { scheme: "file", language: "rust" },
  { scheme: "file", pattern: "**/*.mlir" },
  { scheme: "file", pattern: "**/{cutile-lint.toml,pyproject.toml,Cargo.toml,analysis.json}" },
];
