// `tollgate wallet`, in both modes: payments once, corrections up and down, and exact amounts.
import { expect } from 'chai';
import { readConfig } from '../../lib/config.ts';
import { openOwnStore } from '../../lib/store/open.ts';
import { longer } from '../../testkit/long.ts';
import { applied, giveBack, newId, reserve } from '../contract/store/context.ts';
import { createRig, type Rig, runCommand, spawnCommand } from './command.ts';

describe('cli wallet', () => {
  let rig: Rig;
  let account: string;
  let other: string;

  before(async () => {
    rig = await createRig();
    account = String((await rig.json('account', 'create', '--name', 'first')).account_id);
    other = String((await rig.json('account', 'create', '--name', 'second')).account_id);
  });

  after(() => rig.close());

  const topup = (id: string, rub: string, paymentId: string) =>
    ['wallet', 'topup', id, rub, '--payment-id', paymentId] as const;
  const adjust = (id: string, rub: string) => ['wallet', 'adjust', id, rub, '--reason', 'correction'] as const;

  it('shows an empty wallet', async () => {
    expect(await rig.json('wallet', 'show', account)).to.deep.equal({
      account_id: account,
      status: 'active',
      currency: 'RUB',
      balance_rub: 0,
      held_rub: 0,
      charged_rub: 0,
      topped_up_total_rub: 0,
      adjusted_rub: 0,
    });
    expect(await rig.text('wallet', 'show', account)).to.match(/^balance +0\.00 RUB$/m);
  });

  it('refuses a first payment below 1000 RUB, and books one of 1000', async () => {
    expect(await rig.refused(1, ...topup(account, '999.999999', 'small'))).to.include('at least 1000.00 RUB');
    const json = await rig.json(...topup(account, '1000', 'first'));
    expect(json).to.include({ account_id: account, balance_rub: 1000, topped_up_total_rub: 1000, repeated: false });
  });

  it('books a payment once, however it is repeated', async () => {
    expect(await rig.json(...topup(account, '12.345678', 'twice'))).to.include({ balance_rub: 1012.345678 });
    expect(await rig.json(...topup(account, '12.345678', 'twice'))).to.include({
      balance_rub: 1012.345678,
      repeated: true,
    });
    const text = await rig.text(...topup(account, '12.345678', ' twice '));
    expect(text).to.match(/already booked; nothing changed/);
    expect(text).to.match(/^balance +1012\.345678 RUB$/m);
    expect(await rig.refused(1, ...topup(account, '12.34', 'twice'))).to.include(
      'another amount or for another account',
    );
    expect(await rig.refused(1, ...topup(other, '1000', 'first'))).to.include('another amount or for another account');
    expect(await rig.json('wallet', 'show', other)).to.include({ balance_rub: 0 });
  });

  it('converts play money or writes it off once, with the reason in the ledger', async () => {
    const decide = (id: string, ...how: string[]) =>
      ['wallet', 'play-money', id, ...how, '--reason', 'decided'] as const;
    expect(await rig.refused(1, ...decide(account, '--convert'))).to.include('holds no play money');
    expect(await rig.refused(1, ...decide('acc_none', '--convert'))).to.include('acc_none');
    expect(await rig.refused(2, ...decide(account))).to.include('--write-off');
    const store = await openOwnStore(readConfig(rig.env));
    try {
      for (const [how, balance] of [
        ['--convert', 1400],
        ['--write-off', 400],
      ] as const) {
        const { account_id: id } = await rig.json('account', 'create', '--name', how);
        const wallet = String(id);
        await applied(
          store,
          { kind: 'topup', wallet, at: 1, amount: 1000_000_000n, paymentId: `demo-${wallet}`, isPlay: true },
          { kind: 'topup', wallet, at: 1, amount: 400_000_000n, paymentId: `real-${wallet}` },
        );
        expect(await rig.json('wallet', 'show', wallet)).to.include({ play_money: true });
        expect(await rig.text('wallet', 'show', wallet)).to.match(/^play money +yes/m);
        const chargeId = newId('req');
        await applied(store, reserve(wallet, { chargeId }));
        // What they return would not be play money any more.
        const refused = how === '--write-off' && (await rig.refused(1, ...decide(wallet, how)));
        if (refused !== false) expect(refused).to.include('Calls of the wallet are running');
        await applied(store, giveBack('release', wallet, chargeId));
        const json = await rig.json(...decide(wallet, how));
        expect(json).to.include({ balance_rub: balance, written_off_rub: 1400 - balance });
        expect(json).not.to.have.property('play_money');
        expect(await rig.refused(1, ...decide(wallet, how))).to.include('decided on before');
        expect(await rig.text('ledger', 'list', wallet)).to.match(/play money .*: decided/);
      }
    } finally {
      await store.close();
    }
  });

  it('books a payment once if it is sent several times at once', async () => {
    const send = longer(runCommand, spawnCommand);
    const results = await Promise.all(
      Array.from({ length: longer(2, 6) }, () => send(['--json', ...topup(other, '1000', 'same')], rig.env)),
    );
    expect(results.map(({ code, stderr }) => [code, stderr])).to.deep.equal(results.map(() => [0, '']));
    const wallets = results.map(({ stdout }) => JSON.parse(stdout));
    expect(wallets.filter(({ repeated }) => !repeated)).to.have.length(1);
    for (const wallet of wallets) expect(wallet.balance_rub).to.equal(1000);
    expect(await rig.json('ledger', 'list', other))
      .to.have.property('entries')
      .with.length(1);
  });

  it('adjusts up and down, each time anew, never below zero', async () => {
    const { balance_rub: before } = await rig.json('wallet', 'show', other);
    expect(before).to.equal(1000);
    const first = await rig.json(...adjust(other, '-5'));
    expect(first).to.include({ balance_rub: 995, adjusted_rub: -5, topped_up_total_rub: 1000 });
    expect(first.adjust_id).to.match(/^adj_[0-9a-f]{24}$/);
    expect(await rig.json(...adjust(other, '-5'))).to.include({ balance_rub: 990, adjusted_rub: -10 });
    expect(await rig.json(...adjust(other, '-0.5'))).to.include({
      balance_rub: 989.5,
    });
    expect(await rig.json('wallet', 'adjust', '--reason', 'order', other, '-0.000001')).to.include({
      balance_rub: 989.499999,
    });
    expect(await rig.json('wallet', 'adjust', other, '--reason', '-5', '-0.499999')).to.include({ balance_rub: 989 });
    expect(await rig.text(...adjust(other, '11'))).to.match(
      /^Adjusted by 11\.00 RUB\.\n(.*\n)*balance +1000\.00 RUB$/m,
    );
    expect(await rig.refused(1, ...adjust(other, '-1000.000001'))).to.include('The balance is 1000.00 RUB');
    expect(await rig.json(...adjust(other, '-1000'))).to.include({ balance_rub: 0 });
    const { entries } = (await rig.json('ledger', 'list', other)) as { entries: { note: string }[] };
    expect(entries.map(({ note }) => note).slice(0, 4)).to.deep.equal(['correction', 'correction', '-5', 'order']);
    for (const repeated of [false, true]) {
      const again = await rig.json(...adjust(other, '7'), '--adjust-id', 'ticket-7');
      expect(again).to.include({ balance_rub: 7, adjust_id: 'ticket-7', repeated });
    }
    expect(await rig.text(...adjust(other, '7'), '--adjust-id', 'ticket-7')).to.include('nothing changed');
    const taken = 'This correction id was booked with another amount or for another account.';
    expect(await rig.refused(1, ...adjust(other, '8'), '--adjust-id', 'ticket-7')).to.include(taken);
  });

  it('refuses invalid amounts in one line', async () => {
    const wrong: [args: readonly string[], line: RegExp][] = [
      [topup(account, '1e3', 'bad'), /plain digits/],
      [topup(account, '', 'bad'), /plain digits/],
      [topup(account, '-5', 'bad'), /above zero/],
      [topup(account, '1000000000.000001', 'bad'), /largest amount is 1000000000\.00 RUB/],
      [adjust(account, '-0'), /zero/],
      [adjust(account, '-1.1234567'), /6 decimals/],
      [adjust(account, '-1,5'), /plain digits/],
      [adjust(account, '-5x'), /plain digits/],
      [adjust(account, '--5'), /unknown option/],
    ];
    for (const [args, line] of wrong) expect(await rig.refused(2, ...args)).to.match(line);
    expect(await rig.json('wallet', 'show', account)).to.include({ balance_rub: 1012.345678, adjusted_rub: 0 });
  });

  it('refuses unknown accounts, and empty or multi-line ids and reasons', async () => {
    for (const args of [topup('acc_none', '1000', 'p'), adjust('acc_none', '5'), ['wallet', 'show', 'acc_none']]) {
      expect(await rig.refused(1, ...args)).to.equal('tollgate: There is no account "acc_none".\n');
    }
    expect(await rig.refused(2, ...topup(account, '1000', ' '))).to.include('empty');
    expect(await rig.refused(2, ...topup(account, '1000', 'a\nb'))).to.include('control characters');
    expect(await rig.refused(2, 'wallet', 'adjust', account, '5', '--reason', '')).to.include('empty');
  });

  it('books payments and corrections of a suspended account', async () => {
    await rig.json('account', 'suspend', account);
    expect(await rig.json(...topup(account, '1', 'late'))).to.include({
      balance_rub: 1013.345678,
      status: 'suspended',
    });
  });
});
