package org.draftmill.operators.drafter.collective;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.draftmill.operators.drafter.collective.Membership.Member;

/** Receives from a member of another process. A member that says nothing for the timeout fails. */
final class TcpUpstream implements Upstream, Closeable {
  private final Socket socket;
  private final InputStream in;
  private final Member peer;
  private final CollectiveOptions options;
  private final FrameFormat frame;

  TcpUpstream(Socket socket, Member peer, CollectiveOptions options) throws IOException {
    this.socket = socket;
    this.peer = peer;
    this.options = options;
    frame = new FrameFormat(options.piece() * Long.BYTES);
    socket.setSoTimeout(options.timeoutMillis());
    in = socket.getInputStream();
  }

  @Override
  public void receive(Transfer<?> transfer, long sequence, int from, int count) throws IOException {
    try {
      do {
        frame.read(in);
      } while (frame.kind() == FrameFormat.ALIVE);
      if (frame.operation() != transfer.code()
          || frame.sequence() != sequence
          || frame.first() != from
          || frame.length() != count * transfer.width()) {
        throw new IOException(
            "it sent %d bytes from element %d for operation %d of code %d, not %d bytes from element %d for operation %d of code %d; they do not train the same step"
                .formatted(
                    frame.length(),
                    frame.first(),
                    frame.sequence(),
                    frame.operation(),
                    count * transfer.width(),
                    from,
                    sequence,
                    transfer.code()));
      }
    } catch (SocketTimeoutException e) {
      throw new IOException(
          "The exchange with %s failed in the %s: it was silent for %d ms (drafter.reduce-timeout); its process or the network is gone."
              .formatted(peer, transfer, options.timeoutMillis()),
          e);
    } catch (IOException e) {
      throw new IOException(
          "The exchange with %s failed in the %s: %s.".formatted(peer, transfer, e.getMessage()),
          e);
    }
    transfer.read(from, count, frame.payload());
  }

  @Override
  public void finished(long sequence) {}

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
