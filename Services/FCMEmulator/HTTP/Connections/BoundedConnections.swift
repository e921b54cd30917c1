import HummingbirdCore
import Logging
import NIOCore

/// Bounds how long connections live, and when they are read.
///
/// - A connection ends soon after the emulator is told to stop, even if its peer is stuck in the TLS handshake or does not
///   answer. Otherwise one peer could delay the stop indefinitely.
/// - A connection is not read before its handler runs. A connection that is accepted while the server stops has no handler.
///   SwiftNIO would trap on a request that it has to drop.
struct BoundedConnections<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        do {
            // The first handler, so that its close goes straight to the socket and does not wait for TLS's `close_notify`.
            try channel.pipeline.syncOperations.addHandler(StoppingDeadline())
            try channel.syncOptions?.setOption(.autoRead, value: false)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async {
        // This fails only if the connection has ended already. The base handles that.
        try? await value.channel.setOption(.autoRead, value: true).get()
        await base.handle(value: value, logger: logger)
    }
}

/// Closes its connection a second after the server has asked it to end, and resets it on a ``ConnectionCut``.
private final class StoppingDeadline: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    private static let closeTimeout = TimeAmount.seconds(1)

    private var end: Scheduled<Void>?

    func handlerRemoved(context: ChannelHandlerContext) {
        end?.cancel()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent, end == nil {
            end = context.eventLoop.assumeIsolated().scheduleTask(in: Self.closeTimeout) {
                context.close(mode: .all, promise: nil)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is ConnectionCut else { return context.triggerUserOutboundEvent(event, promise: promise) }
        context.cut()
        promise?.succeed()
    }
}
