// A bad minute at 200 calls a second: three upstreams fail in turn, by every fault of the table.
import { FAULTS } from '../../testkit/chaos-faults.ts';
import { describeChaos } from './chaos.ts';

describeChaos({ perSecond: 200, seconds: 60, firstTokenMs: 3000, faultsMin: Object.keys(FAULTS).length });
