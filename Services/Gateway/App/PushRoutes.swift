import Bus
import HTTPTypes
import Hummingbird
import Base
import Schemas

/// Pushes to the students' app in a browser, without a sign-in: a browser's subscription, and the subjects that it gets pushes of. The
/// portal asks how many there are.
///
/// Whoever has a subscription's secret can change it. Requests count as phones' requests; the Web Push service also limits how many
/// subscriptions an address may add.
struct PushRoutes: Feature {
    /// `nil` if Web Push is off.
    let webPush: CommandClient?
    /// See ``GatewayAccess/publicURL``.
    let publicURL: String?

    var section: APISection {
        APISection(
            "Pushes to browsers",
            "For the students' app in a browser, without a sign-in. A browser gets a subscription from its maker's push service, and "
                + "the app tells the hub (Web Push, RFC 8030, 8291 and 8292). The hub answers with a secret, which changes and "
                + "removes the subscription: send it as `Authorization: Bearer …`.")
    }

    private static let subscriptions = "/app/push/subscriptions"
    private static let subscription = subscriptions + "/:id"

    var routes: [Route] {
        [
            Route(.get, "/app/push", right: .anonymous, answer: .ok(ReadWebPushKey.Reply.self)) { call in
                Answer(try await service.request(ReadWebPushKey(), context: call.caller))
            }.documented(
                "Read the key of pushes",
                "The `applicationServerKey` of a browser's subscription. 404 if the hub sends no pushes.",
                problems: [.notFound]),
            Route(.get, "/app/push/count", right: .read, answer: .ok(SubscriptionCounts.self)) { call in
                Answer(try await service.request(CountSubscriptions(), context: call.caller))
            }.documented(
                "Count the browsers that are subscribed to pushes",
                "`proven` have shown that pushes arrive, and get messages. `hosts` are the push services. 404 if the hub sends no pushes.",
                problems: [.notFound]),
            Route(
                .post, Self.subscriptions, right: .anonymous, body: SubscriptionBody.self,
                answer: .created(AddSubscription.Reply.self)
            ) { call in
                let (webPush, body) = (try service, try await call.body())
                let command = body.command(app: root(for: call))
                return Answer(try await webPush.request(command, context: call.caller))
            }.documented(
                "Subscribe a browser to pushes",
                "`endpoint` and `keys` are those of the browser's `PushSubscription`. `alerts` are the topic keys of all subjects that the "
                    + "student has subscribed to, `information` those whose Information is pushed as well. The first push has a code; a "
                    + "subscription that does not return it ends after an hour. 409 if three of the same endpoint have not returned it.",
                problems: [.notFound, .conflict]),
            Route(.put, Self.subscription, right: .anonymous, body: SubscriptionChange.self, answer: .noContent) { call in
                let (webPush, id, secret) = (try service, try call.identifier("id"), try bearer(of: call.request))
                let command = try await call.body().command(for: id, secret: secret)
                _ = try await webPush.request(command, context: call.caller)
                return Answer()
            }.documented(
                "Change the subjects of a browser's pushes", "404 if the subscription has ended: the app subscribes again.",
                problems: [.unauthenticated]),
            Route(.post, Self.subscription + "/proof", right: .anonymous, body: SubscriptionProof.self, answer: .noContent) {
                call in
                let (webPush, id, secret) = (try service, try call.identifier("id"), try bearer(of: call.request))
                let command = ProveSubscription(id: id, secret: secret, code: try await call.body().code)
                _ = try await webPush.request(command, context: call.caller)
                return Answer()
            }.documented(
                "Return the code of the first push", "It proves that pushes arrive. From then on the browser gets messages.",
                problems: [.unauthenticated]),
            Route(.delete, Self.subscription, right: .anonymous, answer: .noContent) { call in
                let (webPush, id, secret) = (try service, try call.identifier("id"), try bearer(of: call.request))
                _ = try await webPush.request(RemoveSubscription(id: id, secret: secret), context: call.caller)
                return Answer()
            }.documented(
                "End a browser's subscription to pushes", "The answer is the same if it has ended before.",
                problems: [.unauthenticated]),
        ].map { $0.counted(as: .phones) }
    }

    /// - Throws: ``Problem`` if Web Push is off.
    private var service: CommandClient {
        get throws {
            guard let webPush else { throw Problem(.notFound, "This hub sends no pushes to browsers.") }
            return webPush
        }
    }

    /// The app's URL, as the browser that asks reaches it.
    private func root(for call: OpenCall<SubscriptionBody>) -> String {
        let own = "\(call.context.isSecure ? "https" : "http")://\(call.request.head.authority ?? "")"
        return (publicURL ?? own) + AppFiles.root
    }

    /// The subscription's secret.
    ///
    /// - Throws: ``Problem`` if the request has none.
    private func bearer(of request: Request) throws -> Secret {
        guard let text = request.headers.value(of: .authorization).flatMap(PresentedCredential.token(in:)) else {
            throw Problem(
                .unauthenticated, "Authorization: expected the secret of the subscription as a bearer token",
                field: "Authorization")
        }
        return Secret(text)
    }
}
