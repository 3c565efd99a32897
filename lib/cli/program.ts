// Assembles the commands, runs one, and turns any failure into one line and an exit code.
import { Command, CommanderError } from 'commander';
import { joinLines } from '../base/one-line.ts';
import { InvalidInputError } from '../base/operator-error.ts';
import { readVersion } from '../base/package-version.ts';
import { addAccountCommands } from './account.ts';
import { addBankCommands } from './bank.ts';
import { addCatalogCommands } from './catalog.ts';
import { addChargeCommands } from './charge.ts';
import { addCostCommands } from './cost.ts';
import { addDoctorCommand } from './doctor.ts';
import { addGrantCommands } from './grant.ts';
import { addHoldCommands } from './hold.ts';
import { addImportCommand } from './import.ts';
import { addKeyCommands } from './key.ts';
import { addLedgerCommands } from './ledger.ts';
import { addManagementKeyCommands } from './management-key.ts';
import { addMemberCommands } from './member.ts';
import { addPaymentCommands } from './payment.ts';
import { addPeopleCommands } from './people.ts';
import { addPromoCommands } from './promo.ts';
import { addProviderCommands } from './provider.ts';
import { addSecretsCommands } from './secrets.ts';
import { addServeCommand } from './serve.ts';
import { addSmartCommands } from './smart.ts';
import { addStoreCommands } from './store.ts';
import { addSupportBundleCommand } from './support-bundle.ts';
import { addUsageCommand } from './usage.ts';
import { addWalletCommands } from './wallet.ts';

const REFUSED = 1;
const USAGE = 2;

const GUIDE = `
With --json, before or after the command, any command but serve prints one JSON object on stdout and nothing else.
Amounts in it are numbers in RUB, times are ISO 8601 in UTC.

A failure is one line on stderr, in both modes, and nothing on stdout. Exit codes:
  0  done, or it had been done before
  1  refused or failed; for "ledger verify" also: something does not add up
  2  the command line is wrong

The store is that of DATABASE_URL (default sqlite:./data/tollgate.db), which may be in use by a running server.

Example:
  tollgate account create --name "Acme"
  tollgate wallet topup acc_5f0c… 1000 --payment-id inv-2041
  tollgate key issue acc_5f0c… --name production`;

/** Runs one command; resolves to the exit code. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync(argv, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    process.stderr.write(`tollgate: ${describe(error, argv)}\n`);
    return error instanceof CommanderError || error instanceof InvalidInputError ? USAGE : REFUSED;
  }
}

export function createProgram(): Command {
  const program = new Command('tollgate')
    .description(
      'Runs a Tollgate gateway and manages its accounts, keys, wallets, grants, promo codes, payments, bank statements, charges, holds, usage, costs, ledger, catalog, providers, store, people, management keys and secrets.',
    )
    .option('--json', 'print one JSON object instead of text')
    .version(readVersion(), '--version', 'print the version')
    .addHelpText('after', GUIDE)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: () => {}, writeErr: () => {} })
    .exitOverride();
  addAccountCommands(program);
  addKeyCommands(program);
  addWalletCommands(program);
  addGrantCommands(program);
  addPromoCommands(program);
  addPaymentCommands(program);
  addBankCommands(program);
  addChargeCommands(program);
  addHoldCommands(program);
  addUsageCommand(program);
  addCostCommands(program);
  addLedgerCommands(program);
  addCatalogCommands(program);
  addProviderCommands(program);
  addSmartCommands(program);
  addStoreCommands(program);
  addImportCommand(program);
  addPeopleCommands(program);
  addMemberCommands(program);
  addManagementKeyCommands(program);
  addSecretsCommands(program);
  addDoctorCommand(program);
  addSupportBundleCommand(program);
  addServeCommand(program);
  showMandatoryOptions(program);
  return program;
}

/** Help begins with all that a command must have, as its refusals do. */
function showMandatoryOptions(command: Command): void {
  if (command.commands.length === 0) command.usage(describeArguments(command));
  command.commands.forEach(showMandatoryOptions);
}

/** One readable line, whatever was thrown. */
function describe(thrown: unknown, argv: readonly string[]): string {
  if (thrown instanceof CommanderError && thrown.code === 'commander.help') {
    const group = argv.find((word) => !word.startsWith('-'));
    return `which command? "tollgate ${group === undefined ? '' : `${group} `}--help" lists them.`;
  }
  const { name, message } = thrown instanceof Error ? thrown : new Error(String(thrown));
  const line = joinLines(message.replace(/^error: /, ''));
  if (thrown instanceof CommanderError && MISUSES.has(thrown.code))
    return `${line.replace(/\.$/, '')}. Type: ${describeUsage(argv)}`;
  if (thrown instanceof CommanderError && thrown.code === 'commander.unknownCommand') {
    const group = argv.find((word) => !word.startsWith('-')) ?? '';
    const within = line.includes(`'${group}'`) ? '' : `${group} `;
    return `${line}. "tollgate ${within}--help" lists the commands.`;
  }
  if (thrown instanceof CommanderError && /^unknown option '-[\d.]/.test(line)) {
    return `${line}. An amount is plain digits with at most 6 decimals, such as -5 or -12.50.`;
  }
  return name === 'StoreError' ? `the store failed: ${line}` : line;
}

/** Something is missing, or is given as an argument that is an option. */
const MISUSES: ReadonlySet<string> = new Set([
  'commander.missingArgument',
  'commander.missingMandatoryOptionValue',
  'commander.excessArguments',
]);

/** `tollgate key issue <id> --name <name>`: a command with all that it must have. */
function describeUsage(argv: readonly string[]): string {
  let command = createProgram();
  const words = [command.name()];
  for (const word of argv) {
    const next = command.commands.find((each) => each.name() === word);
    if (next) words.push(word);
    else if (!word.startsWith('-')) break;
    command = next ?? command;
  }
  return [...words, describeArguments(command)].join(' ').trim();
}

/** `<id> --name <name> [options]`. */
function describeArguments({ registeredArguments, options }: Command): string {
  const required = registeredArguments.map((each) => (each.required ? `<${each.name()}>` : `[${each.name()}]`));
  const mandatory = options.filter((each) => each.mandatory).map((each) => each.flags);
  const others = mandatory.length < options.length ? ['[options]'] : [];
  return [...required, ...mandatory, ...others].join(' ');
}
