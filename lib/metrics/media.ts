// Metrics of stored images and videos.
import { Counter, type Registry } from 'prom-client';
import type { StoredMedia } from '../store/ports/media.ts';

export interface MediaMetrics {
  readonly onStored: (media: Pick<StoredMedia, 'kind' | 'bytes'>) => void;
  /** This process removed this many files. */
  readonly onRemoved: (count: number) => void;
}

export function createMediaMetrics(registry: Registry): MediaMetrics {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const files = counter('tollgate_media_files_stored_total', 'Images and videos stored.', ['kind']);
  const bytes = counter('tollgate_media_bytes_stored_total', 'Their bytes.', ['kind']);
  const removed = counter('tollgate_media_files_removed_total', 'Stored files removed: expired, or never whole.', []);
  return {
    onStored(media) {
      const { kind } = media;
      files.inc({ kind });
      bytes.inc({ kind }, media.bytes);
    },
    onRemoved: (count) => removed.inc(count),
  };
}
