// Starts the server, shows how it is, and starts it again when its settings change.

import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions, State } from "vscode-languageclient/node";
import { commandLine, DOCUMENTS, needsRestart, serverSettings } from "./settings";

const SECTION = "cutile-lint";

let client: LanguageClient | undefined;
let status: vscode.StatusBarItem;
let output: vscode.OutputChannel;
let turn: Promise<void> = Promise.resolve();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  output = vscode.window.createOutputChannel("cutile-lint");
  status = vscode.window.createStatusBarItem("cutile-lint.status", vscode.StatusBarAlignment.Right, 50);
  status.name = "cutile-lint";
  status.command = "cutile-lint.showOutput";
  context.subscriptions.push(
    output,
    status,
    vscode.commands.registerCommand("cutile-lint.restart", restart),
    vscode.commands.registerCommand("cutile-lint.showOutput", () => output.show()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (needsRestart((key) => event.affectsConfiguration(key))) {
        void restart();
      } else if (event.affectsConfiguration(SECTION)) {
        const settings = { [SECTION]: serverSettings(vscode.workspace.getConfiguration(SECTION)) };
        void client?.sendNotification("workspace/didChangeConfiguration", { settings });
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  await inTurn(stop);
}

function restart(): Promise<void> {
  return inTurn(async () => {
    await stop();
    await start();
  });
}

/** Starts and stops follow one another, however fast they are asked for. */
function inTurn(work: () => Promise<void>): Promise<void> {
  turn = turn.then(work, work);
  return turn;
}

async function stop(): Promise<void> {
  const old = client;
  client = undefined;
  if (old !== undefined) {
    await old.dispose().catch((error: unknown) => output.appendLine(`while stopping: ${String(error)}`));
  }
}

async function start(): Promise<void> {
  const configuration = vscode.workspace.getConfiguration(SECTION);
  if (!configuration.get<boolean>("enable", true)) {
    status.hide();
    return;
  }
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const { command, args } = commandLine(configuration, folder);
  const server: ServerOptions = { command, args, options: { cwd: folder } };
  const options: LanguageClientOptions = {
    documentSelector: DOCUMENTS,
    outputChannel: output,
    initializationOptions: { settings: serverSettings(configuration) },
    diagnosticPullOptions: { onChange: true, onSave: true, onTabs: true },
  };
  client = new LanguageClient(SECTION, "cutile-lint", server, options);
  client.onDidChangeState((event) => show(event.newState));
  show(State.Starting);
  try {
    await client.start();
  } catch (error) {
    failed(`${command} could not be started: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function show(state: State): void {
  const icon = { [State.Starting]: "loading~spin", [State.Running]: "check", [State.Stopped]: "circle-slash" }[state];
  status.text = `$(${icon}) cutile-lint`;
  status.tooltip = { [State.Starting]: "starting", [State.Running]: "running", [State.Stopped]: "stopped" }[state];
  status.backgroundColor = undefined;
  status.show();
}

function failed(message: string): void {
  status.text = "$(error) cutile-lint";
  status.tooltip = message;
  status.backgroundColor = new vscode.ThemeColor("statusBarItem.errorBackground");
  status.show();
  output.appendLine(message);
  void vscode.window.showErrorMessage(`cutile-lint: ${message}`, "Open Settings").then((choice) => {
    if (choice !== undefined) {
      void vscode.commands.executeCommand("workbench.action.openSettings", "cutile-lint.path");
    }
  });
}
