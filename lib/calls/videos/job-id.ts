// The id by which a client knows a video: the id of the request that started it, with another prefix.

export const VIDEO_ID = /^vid_[0-9a-f]{32}$/;

export function toVideoId(requestId: string): string {
  return `vid_${requestId.replace(/^req_/, '')}`;
}
