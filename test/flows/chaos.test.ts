// A short bad day: three upstreams fail in turn under calls. `chaos.slow.ts` has the long one.
import { describeChaos } from './chaos.ts';

describeChaos({ perSecond: 30, seconds: 5, firstTokenMs: 1500, faultsMin: 4 });
