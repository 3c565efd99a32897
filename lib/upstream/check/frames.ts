// Answers recorded in a framing of the plugin's own: their frames as values, which `fixtures/frame` writes as the
// upstream does.
import { Buffer } from 'node:buffer';
import { loadFixtureScript } from './fixture-script.ts';

/** Writes one frame as the upstream sends it. */
export type WriteFrame = (value: unknown) => Uint8Array | string;

/** The frames of a body, and what has written them. */
export interface Frames {
  readonly values: readonly unknown[];
  readonly write: WriteFrame;
}

export function loadWriteFrame(folder: string): Promise<WriteFrame | undefined> {
  return loadFixtureScript<WriteFrame>(folder, 'frame', 'writes a frame');
}

export function encodeFrames({ values, write }: Frames): Buffer {
  return Buffer.concat(values.map((value) => Buffer.from(write(value) as Uint8Array)));
}
