import HummingbirdCore
import NIOCore
import NIOHTTPTypes
import Synchronization

/// A connection that the listening socket has accepted, on its way to the server's loop.
///
/// A connection that is accepted in the moment of a stop reaches that loop too late, and the loop drops it. NIO ends the process if
/// the channel of such a connection was never used. So a dropped one is answered by a task of its own, which the stop waits for.
final class AcceptedConnection: ServerChildChannelValue {
    typealias Connection = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    private let connection: Connection
    private let answer: @Sendable (Connection) async -> Void
    private let isTaken = Atomic<Bool>(false)

    /// - Parameter answer: Answers the requests of the connection until it is closed.
    init(_ connection: Connection, answer: @escaping @Sendable (Connection) async -> Void) {
        self.connection = connection
        self.answer = answer
    }

    deinit {
        guard !isTaken.load(ordering: .acquiring) else { return }
        Task { [connection, answer] in await answer(connection) }
    }

    var channel: any NIOCore.Channel { connection.channel }

    /// Answers its requests. Call it once.
    func run() async {
        isTaken.store(true, ordering: .releasing)
        await answer(connection)
    }
}
