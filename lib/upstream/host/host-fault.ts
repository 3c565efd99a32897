// Makes the faults of one upstream from statuses, bodies and error messages, without its secrets.

import type { FaultStatuses, FaultTexts, FaultWords, HostFault, UpstreamFault } from '../contract/fault.ts';
import { type Complaint, findComplaint } from './error-body.ts';
import { classifyStatus, upstreamFault } from './fault.ts';
import { createJudge } from './fault-words.ts';
import { readRetryAfter } from './retry-after.ts';
import { scrub } from './secret.ts';

interface HostFaultOptions {
  /** Never shown in a detail. */
  readonly secrets: readonly string[];
  /** The plugin's own. */
  readonly words?: FaultWords | undefined;
  readonly texts?: FaultTexts | undefined;
  readonly statuses?: FaultStatuses | undefined;
  /** The header of a reply that names the code of its error. */
  readonly header?: string | undefined;
}

const NO_MESSAGE: Complaint = { message: 'an error without a message', words: [] };

export function createHostFault({ secrets, words, texts, statuses, header }: HostFaultOptions): HostFault {
  const judge = createJudge(words, texts, statuses);
  const make: HostFault['make'] = (kind, detail, facts) => upstreamFault(kind, scrub(detail, secrets), facts);

  function createJudgedFault(
    complaint: Complaint,
    status: number | undefined,
    retryAfterMs = readRetryAfter({ 'retry-after': complaint.retryDelay }),
  ): UpstreamFault {
    const { kind, about } = judge(complaint, status);
    const said = [...new Set(complaint.words)].join(' ');
    const detail = said === '' ? complaint.message : `${said}: ${complaint.message}`;
    return make(kind, detail, {
      ...(status !== undefined && { status }),
      ...(about !== undefined && { about }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }

  function ofComplaint(value: unknown, certain?: boolean): UpstreamFault | undefined {
    const complaint = findComplaint(value, certain) ?? (certain ? NO_MESSAGE : undefined);
    return complaint && createJudgedFault(complaint, complaint.status);
  }

  return {
    make,
    kindOfStatus: classifyStatus,
    ofReply(status, headers, text) {
      const found = findComplaint(parse(text), true) ?? { message: text, words: [] };
      const complaint = { ...found, words: [...readCode(header && headers[header]), ...found.words] };
      return createJudgedFault(complaint, status, readRetryAfter(headers));
    },
    ofComplaint: ofComplaint as HostFault['ofComplaint'],
  };
}

/** The code in a header, without a namespace and without what follows it. */
function readCode(value: string | string[] | undefined): readonly string[] {
  const code = /^(?:[\w.]*#)?([\w.-]{1,100})/.exec(String(value ?? ''))?.[1];
  return code === undefined ? [] : [code.toLowerCase()];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
