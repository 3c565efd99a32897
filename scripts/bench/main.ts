// `npm run bench`: the gateway beside a bare pipe; with `--store sqlite|mongodb` only a store's ledger; with `--growth`
// stores of several sizes; with `--fields` the check of a request's fields.
const has = (name: RegExp) => process.argv.some((argument) => name.test(argument));
const ledger = has(/^--(store|url)(=|$)/) ? './store.ts' : './run.ts';
const other = has(/^--growth$/) ? './growth.ts' : ledger;
await import(has(/^--fields$/) ? './fields.ts' : other);
