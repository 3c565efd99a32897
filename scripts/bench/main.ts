// `npm run bench`: the gateway beside a bare pipe; with `--store sqlite|mongodb` the ledger of a store alone.
const ledger = process.argv.some((argument) => /^--(store|url)(=|$)/.test(argument));
await import(ledger ? './store.ts' : './run.ts');
