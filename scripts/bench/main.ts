// `npm run bench`: the gateway beside a bare pipe; with `--store sqlite|mongodb` only a store's ledger; with `--growth`
// stores of several sizes.
const has = (name: RegExp) => process.argv.some((argument) => name.test(argument));
const ledger = has(/^--(store|url)(=|$)/) ? './store.ts' : './run.ts';
await import(has(/^--growth$/) ? './growth.ts' : ledger);
