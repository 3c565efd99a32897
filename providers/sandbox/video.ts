// The videos of the sandbox: jobs that need no network and no memory, so that any process can look at them.
//
// film.mp4 is two seconds of a red square that goes from side to side: H.264 in its baseline profile, which every browser
// plays, its index in front. ffmpeg 5.1 of Debian made it:
//   ffmpeg -f lavfi -i color=c=0x1e2a38:s=320x180:r=12:d=2 -f lavfi -i color=c=0xd6453d:s=48x48:r=12:d=2
//     -filter_complex "[0][1]overlay=x='136+90*sin(PI*t)':y=66" -c:v libx264 -profile:v baseline -pix_fmt yuv420p
//     -crf 28 -preset veryslow -movflags +faststart -bitexact -fflags +bitexact -map_metadata -1 film.mp4
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Host, VideoProvider, VideoRef, VideoState } from '../../lib/upstream/contract/provider.ts';
import { failure } from './markers.ts';

const FILM = readFileSync(new URL('film.mp4', import.meta.url));

/** What the prompt may ask for; the first one counts. */
const MARKER = /\[\[(fail-start|fail|moderated|stall|unknown|lost)\]\]/;

/** Before this time a job is queued. */
const QUEUED_SHARE = 0.1;

export function createVideo({ videoMs }: { readonly videoMs: number }, host: Host): VideoProvider {
  return {
    async start({ prompt }, signal) {
      signal.throwIfAborted();
      const marker = MARKER.exec(prompt)?.[1] ?? '';
      if (marker === 'fail-start') throw failure('[[fail-start]]', host);
      const now = host.clock.now();
      return { id: randomUUID(), marker, startedAt: String(now), readyAt: String(now + videoMs) };
    },
    async poll(ref, signal) {
      signal.throwIfAborted();
      return readJobState(ref, host);
    },
  };
}

/** By the clock alone. */
function readJobState({ marker = '', startedAt, readyAt }: VideoRef, host: Host): VideoState {
  const now = host.clock.now();
  const isReady = marker !== 'stall' && now >= Number(readyAt);
  if (isReady) return endJob(marker, host);
  if (marker === 'lost') throw host.fault.make('network', 'the prompt asked for lost looks with [[lost]]');
  // What a provider makes of an unknown word for the state.
  if (marker === 'unknown') return { status: 'processing' };
  const share = Math.max((now - Number(startedAt)) / (Number(readyAt) - Number(startedAt)), 0);
  const progress = Math.min(Math.floor(share * 100), 99);
  return { status: share < QUEUED_SHARE ? 'queued' : 'processing', progress };
}

function endJob(marker: string, host: Host): VideoState {
  if (marker === 'fail') return { status: 'failed', fault: failure('[[fail]]', host) };
  if (marker !== 'moderated') return { status: 'completed', result: { bytes: FILM } };
  const fault = host.fault.make('request', 'the prompt asked for it with [[moderated]]', { about: 'content' });
  return { status: 'failed', fault };
}
