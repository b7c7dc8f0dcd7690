// The extension's own settings code starts the real server; the messages are those that VS Code's client sends.
// CUTILE_LINT_COMMAND: the server's command as a JSON list; CUTILE_LINT_EXAMPLE: a folder with a faulty op.

import { test } from "node:test";
import * as assert from "node:assert/strict";
import { ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  CodeAction,
  CodeActionRequest,
  CodeActionResolveRequest,
  CodeLensRequest,
  createProtocolConnection,
  DefinitionRequest,
  Diagnostic,
  DidChangeConfigurationNotification,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DocumentDiagnosticReport,
  DocumentDiagnosticRequest,
  ExitNotification,
  InitializedNotification,
  InitializeRequest,
  InlayHintRequest,
  Location,
  LSPErrorCodes,
  ProtocolConnection,
  RegistrationRequest,
  ResponseError,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocumentEdit,
} from "vscode-languageserver-protocol/node";
import { commandLine, Configuration, DOCUMENTS, needsRestart, serverSettings } from "../src/settings";

class Given implements Configuration {
  constructor(private readonly values: Record<string, unknown>) {}
  get<T>(key: string, fallback: T): T {
    return key in this.values ? (this.values[key] as T) : fallback;
  }
}

const [path, ...args] = JSON.parse(process.env.CUTILE_LINT_COMMAND ?? '["cutile-lint", "server"]') as string[];
const example = process.env.CUTILE_LINT_EXAMPLE ?? "../../examples/faulty/skill";

test("the command line takes the settings and the folder", () => {
  assert.deepEqual(commandLine(new Given({}), undefined), { command: "cutile-lint", args: ["server"] });
  const given = new Given({ path: "${workspaceFolder}/.venv/bin/cutile-lint", args: ["--config", "${workspaceFolder}/lint.toml"] });
  assert.deepEqual(commandLine(given, "/w"), { command: "/w/.venv/bin/cutile-lint", args: ["server", "--config", "/w/lint.toml"] });
  assert.equal(needsRestart((key) => key === "cutile-lint.path"), true);
  assert.equal(needsRestart((key) => key === "cutile-lint.ignore"), false);
});

test("the settings of the manifest are those that are sent", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf-8"));
  const properties = manifest.contributes.configuration.properties as Record<string, { default: unknown }>;
  const sent = serverSettings(new Given({}));
  for (const [key, value] of Object.entries(sent)) {
    assert.deepEqual(properties[`cutile-lint.${key}`]?.default, value, key);
  }
});

interface Running {
  connection: ProtocolConnection;
  process: ChildProcess;
  root: string;
  registered: string[];
}

async function withServer(settings: Record<string, unknown>, work: (running: Running) => Promise<void>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "cutile-lint-"));
  cpSync(example, root, { recursive: true });
  const child = spawn(path, args, { stdio: ["pipe", "pipe", "inherit"] });
  const connection = createProtocolConnection(new StreamMessageReader(child.stdout!), new StreamMessageWriter(child.stdin!));
  const registered: string[] = [];
  connection.onRequest(RegistrationRequest.type, (params) => {
    registered.push(...params.registrations.map((one) => one.method));
  });
  connection.listen();
  try {
    const uri = pathToFileURL(root).toString();
    const result = await connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri: uri,
      workspaceFolders: [{ uri, name: "work" }],
      initializationOptions: { settings: serverSettings(new Given(settings)) },
      capabilities: {
        general: { positionEncodings: ["utf-16"] },
        textDocument: {
          diagnostic: { relatedDocumentSupport: true },
          codeAction: {
            codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix", "source"] } },
            resolveSupport: { properties: ["edit"] },
            dataSupport: true,
          },
        },
        workspace: { workspaceEdit: { documentChanges: true }, didChangeWatchedFiles: { dynamicRegistration: true } },
      },
    });
    assert.equal(result.capabilities.positionEncoding, "utf-16");
    assert.ok(result.capabilities.diagnosticProvider);
    await connection.sendNotification(InitializedNotification.type, {});
    await work({ connection, process: child, root, registered });
    await connection.sendRequest(ShutdownRequest.type);
    const exit = new Promise((resolve) => child.once("exit", resolve));
    await connection.sendNotification(ExitNotification.type);
    assert.equal(await exit, 0);
  } finally {
    connection.dispose();
    child.kill();
    rmSync(root, { recursive: true, force: true });
  }
}

async function open(running: Running, name: string, language: string): Promise<{ uri: string; text: string }> {
  const file = join(running.root, "scale_residual", name);
  const text = readFileSync(file, "utf-8");
  const uri = pathToFileURL(file).toString();
  const textDocument = { uri, languageId: language, version: 1, text };
  await running.connection.sendNotification(DidOpenTextDocumentNotification.type, { textDocument });
  return { uri, text };
}

/** Pulls as VS Code does: again when the server says that the text has changed. */
async function pull(connection: ProtocolConnection, uri: string): Promise<DocumentDiagnosticReport> {
  for (;;) {
    try {
      return await connection.sendRequest(DocumentDiagnosticRequest.type, { textDocument: { uri } });
    } catch (error) {
      if (!(error instanceof ResponseError) || error.code !== LSPErrorCodes.ServerCancelled) {
        throw error;
      }
    }
  }
}

/** Waits until the codes that are pulled for a file fit. */
async function until(connection: ProtocolConnection, uri: string, fits: (found: Set<unknown>) => boolean): Promise<void> {
  const end = Date.now() + 10_000;
  for (;;) {
    const found = codes(items(await pull(connection, uri)));
    if (fits(found)) {
      return;
    }
    assert.ok(Date.now() < end, [...found].join(" "));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function items(report: DocumentDiagnosticReport): Diagnostic[] {
  assert.equal(report.kind, "full");
  return report.kind === "full" ? report.items : [];
}

const codes = (found: Diagnostic[]): Set<unknown> => new Set(found.map((one) => one.code));

test("diagnostics, fixes and links across the layers", async () => {
  await withServer({}, async (running) => {
    const { connection } = running;
    const ffi = await open(running, "ffi.rs", "rust");
    const wrapper = await open(running, "wrapper.py", "python");
    const report = await pull(connection, wrapper.uri);
    assert.ok(codes(items(report)).has("CTL101"));
    const related = report.kind === "full" ? report.relatedDocuments : undefined;
    assert.ok(related && ffi.uri in related);
    const fault = items(await pull(connection, ffi.uri)).find((one) => one.code === "CTL202")!;
    const whole = { start: { line: 0, character: 0 }, end: { line: 500, character: 0 } };

    const at = { textDocument: { uri: ffi.uri }, range: fault.range, context: { diagnostics: [fault] } };
    const actions = ((await connection.sendRequest(CodeActionRequest.type, at)) ?? []) as CodeAction[];
    const fix = actions.find((one) => one.isPreferred)!;
    const change = fix.edit!.documentChanges![0] as TextDocumentEdit;
    assert.deepEqual(change.textDocument, { uri: ffi.uri, version: 1 });
    const contentChanges = [...change.edits].reverse().map((edit) => ({ range: edit.range, text: (edit as { newText: string }).newText }));
    await connection.sendNotification(DidChangeTextDocumentNotification.type, { textDocument: { uri: ffi.uri, version: 2 }, contentChanges });
    assert.ok(!codes(items(await pull(connection, ffi.uri))).has("CTL202"));

    const all = { textDocument: { uri: wrapper.uri }, range: whole, context: { diagnostics: [], only: ["source.fixAll"] } };
    const [fixAll] = ((await connection.sendRequest(CodeActionRequest.type, all)) ?? []) as CodeAction[];
    const resolved = await connection.sendRequest(CodeActionResolveRequest.type, fixAll);
    assert.ok(resolved.edit!.documentChanges!.length > 0);

    const hints = (await connection.sendRequest(InlayHintRequest.type, { textDocument: { uri: wrapper.uri }, range: whole })) ?? [];
    assert.ok(hints.some((one) => one.label === "alpha:"));
    const [lens] = (await connection.sendRequest(CodeLensRequest.type, { textDocument: { uri: ffi.uri } })) ?? [];
    assert.match(lens.command!.title, /^called from wrapper\.py:\d+ · 1 variant/);
    const offset = wrapper.text.indexOf("lib.cutile_scale_residual(") + 6;
    const before = wrapper.text.slice(0, offset).split("\n");
    const position = { line: before.length - 1, character: before[before.length - 1].length };
    const places = (await connection.sendRequest(DefinitionRequest.type, { textDocument: { uri: wrapper.uri }, position })) as Location[];
    assert.deepEqual(places.map((one) => one.uri), [ffi.uri]);
    assert.deepEqual(running.registered, ["workspace/didChangeWatchedFiles"]);
  });
});

test("rules and services follow the settings, without a restart", async () => {
  await withServer({ select: ["CTL204"], codeLens: false }, async (running) => {
    const { connection } = running;
    const ffi = await open(running, "ffi.rs", "rust");
    assert.deepEqual(codes(items(await pull(connection, ffi.uri))), new Set(["CTL204"]));
    assert.equal(await connection.sendRequest(CodeLensRequest.type, { textDocument: { uri: ffi.uri } }), null);
    const settings = { "cutile-lint": serverSettings(new Given({ ignore: ["CTL204"] })) };
    await connection.sendNotification(DidChangeConfigurationNotification.type, { settings });
    await until(connection, ffi.uri, (found) => found.has("CTL202") && !found.has("CTL204"));
  });
});

test("files of the configuration are told while they are edited", async () => {
  const patterns = DOCUMENTS.map((one) => one.pattern ?? "");
  for (const name of ["cutile-lint.toml", "pyproject.toml", "Cargo.toml", "analysis.json"]) {
    assert.ok(patterns.some((pattern) => pattern.includes(name)), name);
  }
  await withServer({}, async ({ connection, root, ...running }) => {
    const ffi = await open({ connection, root, ...running }, "ffi.rs", "rust");
    await until(connection, ffi.uri, (found) => found.has("CTL202"));
    const uri = pathToFileURL(join(root, "pyproject.toml")).toString();
    const text = '[tool.cutile-lint]\nignore = ["CTL202"]\n';
    await connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: "toml", version: 1, text },
    });
    await until(connection, ffi.uri, (found) => !found.has("CTL202"));
  });
});
