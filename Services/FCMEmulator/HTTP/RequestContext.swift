import Hummingbird
import NIOCore

/// What a request carries through the routes: beside Hummingbird's own, the event loop of its connection, for timers.
struct EmulatorRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let eventLoop: any EventLoop

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        eventLoop = source.channel.eventLoop
    }
}
