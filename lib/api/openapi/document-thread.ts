// Makes the API document, on a thread that exits with it: its schemas take a tenth of a second, and stay in memory.
import { parentPort, workerData } from 'node:worker_threads';
import { describeApi } from './document.ts';

/** What the thread is started with; it posts the bytes of the document. */
export interface DocumentOrder {
  readonly publicUrl: string;
}

const { publicUrl } = workerData as DocumentOrder;
parentPort?.postMessage(new TextEncoder().encode(JSON.stringify(describeApi(publicUrl))));
