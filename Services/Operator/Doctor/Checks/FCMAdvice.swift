import Schemas

/// What to do about an error of FCM's dry run.
struct FCMAdvice: Sendable {
    let text: String

    init(for error: DeliveryError) {
        text =
            switch error.catalogued {
            case .oauth: Self.token(error.message.lowercased())
            case .unauthenticated:
                "FCM refuses the token of this key: is the key of the same Firebase project, and MSI_FCM_ENDPOINT the right one?"
            case .permissionDenied, .failedPrecondition:
                "enable the Firebase Cloud Messaging API in the project, and give the service account the role Firebase Cloud Messaging "
                    + "API Admin"
            case .senderIDMismatch, .notFound:
                "the key belongs to another project or to one that was deleted: use a key of the right project"
            case .invalidArgument: "FCM refuses the message itself: does MSI_FCM_ENDPOINT lead to FCM?"
            case .network, .timeout, .unavailable:
                "does the relay have a network? Check the address of the name, the firewall and the proxy between it and MSI_FCM_ENDPOINT"
            case .tls:
                "FCM's certificate is not trusted: apt install ca-certificates, correct MSI_FCM_CA_FILE, and check the clock"
            case .circuitOpen: "FCM has failed many times in a row; the relay's log says why, and it tries again by itself"
            case .quotaExceeded, .rateLimitExceeded, .resourceExhausted, .projectPaused, .paced, .overloaded:
                "wait a few minutes; if it stays so, ask Google for a larger quota"
            case .noServiceAccount: "FCM's legacy API was shut down in 2024: use a service account"
            default: "Services/FCMRelay/API.md explains the code; the relay's log says more"
            }
    }

    /// There is no access token.
    ///
    /// - Parameter message: The token endpoint's words in lower case.
    private static func token(_ message: String) -> String {
        if message.contains("short-lived") || message.contains("iat") || message.contains("expired") {
            return "the machine's clock is wrong: set it by a time server"
        }
        if message.contains("invalid_grant") || message.contains("invalid_client") || message.contains("cannot sign") {
            return
                "the key is wrong, or was deleted at Google: make a new one (Firebase console › Project settings › Service accounts), "
                + "put it in the place of the old one, and restart the relay"
        }
        if message.contains("no answer") {
            return
                "the relay does not reach the token endpoint that the key file names (token_uri): check the network, the firewall and the name's address"
        }
        return "the key is not accepted: is it of the right project? The relay's log says more"
    }
}
