import Glibc
import NIOCore
import NIOHTTP2

/// The connection that a request came on, and its stream of it: for whoever wants to break them.
struct Exchange: Sendable {
    /// That of the request that the current task answers; `nil` outside of one.
    @TaskLocal static var current: Exchange?

    let connection: any Channel
    /// `nil` on a connection of HTTP/1.1, which has no streams.
    let stream: Stream?

    struct Stream: Sendable {
        let number: Int
        let channel: any Channel
        let ledger: SharedLedger
    }

    /// Notes that the request is going to be done.
    ///
    /// - Returns: `false` where it must not be, since its client has been told so; the stream is reset then.
    func take() async -> Bool {
        guard let stream, !stream.ledger.withLock({ $0.take(stream.number) }) else { return true }
        await resetStream(.refusedStream)
        return false
    }

    /// Ends the request without an answer.
    func resetStream(_ code: HTTP2ErrorCode) async {
        guard let stream else { return await closeConnection() }
        await done(stream.channel.triggerUserOutboundEvent(StreamReset.Request(code: code)))
    }

    /// Ends the connection in good order, but without a word on what became of its requests.
    func closeConnection() async {
        await done(connection.close())
    }

    /// Breaks the connection off, as a server that crashes does: a TCP reset.
    func cutConnection() async {
        await done(connection.triggerUserOutboundEvent(ConnectionCut()))
    }

    /// Tells the client to leave this connection after all that it has sent so far.
    func goAway(because reason: GoAway.Reason) async {
        guard let stream else { return }
        await send(stream.ledger.withLock { $0.goAway(because: reason) })
    }

    /// Tells the client to leave this connection, and that this request was not done, nor any other that was not taken up.
    func goAwayUntaken(because reason: GoAway.Reason) async {
        guard let stream else { return await closeConnection() }
        let goAway = stream.ledger.withLock { $0.goAwayFromUntaken(because: reason) }
        await send(goAway)
        // A later request was taken up before, so that the GOAWAY covers this one as well.
        if stream.number <= goAway.lastStream { await resetStream(.refusedStream) }
    }

    func send(_ goAway: GoAway) async {
        await done(connection.triggerUserOutboundEvent(goAway))
    }

    /// Waits for an end; where the client was faster, it is the end all the same.
    private func done(_ end: EventLoopFuture<Void>) async {
        try? await end.get()
    }
}

/// The event that has a connection broken off; its first handler does that.
struct ConnectionCut: Sendable {}

extension ChannelHandlerContext {
    /// Closes the socket so that the peer gets a TCP reset, without the goodbye of TLS.
    func cut() {
        // It fails only where the socket is closed already.
        _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        close(promise: nil)
    }
}
