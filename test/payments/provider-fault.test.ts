// Which failures are the provider's.
import { once } from 'node:events';
import { expect } from 'chai';
import { findProviderFault } from '../../lib/payments/provider-fault.ts';
import { StoreError } from '../../lib/store/store.ts';
import { upstreamFault } from '../../lib/upstream/host/fault.ts';

describe('the fault of a payment provider', () => {
  const network = upstreamFault('network', 'away');
  const open = new AbortController().signal;

  it('is one that its plugin has thrown', () => {
    expect(findProviderFault(network, open)).to.equal(network);
    expect(findProviderFault(new Error('ours'), open)).to.equal(undefined);
  });

  it('is a timeout if it has not answered in time, whatever its plugin makes of that', async () => {
    const late = AbortSignal.any([open, AbortSignal.timeout(1)]);
    await once(late, 'abort');
    for (const error of [late.reason, network])
      expect(findProviderFault(error, late)).to.include({ kind: 'timeout', detail: 'no answer in time' });
    expect(findProviderFault(new StoreError('unavailable', 'no'), late)).to.equal(undefined);
  });

  it('is none if the work was aborted', () => {
    const aborted = AbortSignal.abort();
    for (const error of [aborted.reason, network]) expect(findProviderFault(error, aborted)).to.equal(undefined);
  });
});
