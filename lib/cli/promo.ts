// `tollgate promo`: makes, lists and ends promo codes, each of which gives a grant to accounts whose owners type it in.
import type { Command } from 'commander';
import { promoActions } from '../manage/actions/promo.ts';
import { readCount, readPayment, readText, readTime } from '../manage/arguments.ts';
import { onStore } from './session.ts';

export function addPromoCommands(program: Command): void {
  const promo = program
    .command('promo')
    .description('promo codes, which owners type in on the page of their wallet: create, list, end');
  promo
    .command('create')
    .description('Makes a code that gives a grant to each account that uses it, once.')
    .argument('<rub>', 'RUB for each account, with at most 6 decimals', readPayment)
    .requiredOption('--uses <count>', 'how many accounts may use it', readCount)
    .requiredOption('--reason <text>', 'the reason; owners see it', readText)
    .option('--code <code>', '4 to 40 letters, digits and hyphens; without it, a random one is made')
    .option('--until <time>', 'it can be used before this day (UTC) or time', readTime)
    .option('--days <count>', 'how many days its grants last; without it, for good', readCount)
    .option('--opens-wallet', 'its grants count as the first top-up')
    .addHelpText(
      'after',
      '\nExample:\n  tollgate promo create 300 --code SPRING --uses 100 --days 30 --reason "a trial"',
    )
    .action(onStore(promoActions.create));
  promo
    .command('list')
    .description('Lists all codes, and how often they were used.')
    .addHelpText('after', '\nExample:\n  tollgate promo list')
    .action(onStore(promoActions.list));
  promo
    .command('end')
    .description('Ends a code: nobody can use it any more. Its grants stay.')
    .argument('<code>', 'the code')
    .addHelpText('after', '\nExample:\n  tollgate promo end SPRING')
    .action(onStore(promoActions.end));
}
