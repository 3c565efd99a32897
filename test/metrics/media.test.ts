import { expect } from 'chai';
import { Registry } from 'prom-client';
import { createMediaMetrics } from '../../lib/metrics/media.ts';
import { parseExposition } from '../../testkit/exposition.ts';

describe('media metrics', () => {
  it('count files and bytes by kind, and removed files', async () => {
    const registry = new Registry();
    const { onStored, onRemoved } = createMediaMetrics(registry);
    onStored({ kind: 'image', bytes: 100 });
    onStored({ kind: 'image', bytes: 50 });
    onStored({ kind: 'video', bytes: 7000 });
    onRemoved(2);
    onRemoved(0);
    const { sum } = parseExposition(await registry.metrics());
    expect(sum('tollgate_media_files_stored_total', { kind: 'image' })).to.equal(2);
    expect(sum('tollgate_media_bytes_stored_total', { kind: 'image' })).to.equal(150);
    expect(sum('tollgate_media_bytes_stored_total', { kind: 'video' })).to.equal(7000);
    expect(sum('tollgate_media_files_removed_total')).to.equal(2);
  });
});
