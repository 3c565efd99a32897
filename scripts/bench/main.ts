// `npm run bench`: the gateway beside a bare pipe; with `--store sqlite|mongodb` only a store's ledger; with `--growth`
// stores of several sizes; with `--peers` other gateways beside both; with `--parts` single parts of a call; with
// `--workers` what a second worker adds; with `--profile` where a call spends its time.
const FILES: readonly (readonly [option: RegExp, file: string])[] = [
  [/^--growth$/, './growth.ts'],
  [/^--(store|url)(=|$)/, './store.ts'],
  [/^--peers$/, './peers.ts'],
  [/^--parts$/, './parts.ts'],
  [/^--workers$/, './workers.ts'],
  [/^--profile$/, './profile.ts'],
];
const [, file = './run.ts'] = FILES.find(([option]) => process.argv.some((argument) => option.test(argument))) ?? [];
if (file === './run.ts' && process.argv.includes('--help')) {
  console.log(
    'With one of --growth, --store …, --peers, --parts, --workers, --profile it measures that: see its --help.',
  );
}
await import(file);
