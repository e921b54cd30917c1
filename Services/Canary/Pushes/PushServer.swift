import FoundationEssentials
import HTTPRouting
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceKit

/// The push service of the canary's subscription: it takes pushes as a browser maker's does (RFC 8030).
struct PushServer: Sendable {
    let inbox: PushInbox

    static let path = "/push/"
    /// More than the 4,096 bytes of a push.
    private static let maxBytes = 8_192

    /// - Parameter port: The port on 127.0.0.1.
    func service(port: Int, logger: Logger) -> ListeningService {
        var quiet = logger
        quiet.logLevel = .notice
        let application = Application(
            router: router, server: .http1Connections,
            configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: nil), logger: quiet)
        return ListeningService(application, scheme: "http", port: port, of: .canaryPushPort)
    }

    private var router: Router<BasicRequestContext> {
        let router = Router()
        router.post("\(Self.path):name") { [inbox] request, context in
            let name = try context.parameters.require("name")
            let body = try await request.body.collect(upTo: Self.maxBytes)
            switch inbox.take(Data(body.readableBytesView), at: name) {
            case .taken: return Response(status: .created, headers: [.location: "\(Self.path)message"])
            // The Web Push service ends the subscription.
            case .unknownPath: return Response(status: .gone)
            case .unreadable: return Response(status: .badRequest)
            }
        }
        return router
    }
}
