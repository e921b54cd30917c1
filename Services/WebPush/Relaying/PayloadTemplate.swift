import FoundationEssentials
import Base
import ServiceKit

/// The payload of a push, whose `notification.navigate` is completed for each subscription.
///
/// The URL of the app differs between subscriptions, if a hub has several addresses. There are few, so each is written once.
struct PayloadTemplate {
    static let navigate = "navigate"
    private static let notification = "notification"

    private let payload: JSONValue
    private var written: [String: Data] = [:]

    init(_ payload: JSONValue) {
        self.payload = payload
    }

    /// The payload for the subscriptions of one app.
    ///
    /// - Parameter app: The app's URL; without one the address stays relative, for the app's service worker.
    mutating func data(for app: String?) -> Data {
        if let known = written[app ?? ""] { return known }
        var payload = payload
        if let app, var notification = payload[Self.notification], let relative = notification[Self.navigate]?.string {
            notification[Self.navigate] = .string(app + relative)
            payload[Self.notification] = notification
        }
        let data = payload.data
        written[app ?? ""] = data
        return data
    }
}

/// The URL of an app, which notifications open.
enum AppURL {
    static let maxLength = 500

    /// Why a URL is refused; `nil` if it may be used. The gateway gives it, so this finds only mistakes.
    static func problem(with url: String) -> String? {
        guard url.utf8.count <= maxLength else { return "expected at most \(maxLength) bytes, found \(url.utf8.count)" }
        guard let scheme = ["https://", "http://"].first(where: { url.hasPrefix($0) }) else {
            return "expected a URL that begins with https:// or http://"
        }
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\"#?\\".utf8.contains($0) }),
            HTTPAuthority(url.dropFirst(scheme.count).prefix { $0 != "/" }) != nil
        else { return "expected the URL of a page, without a query and a fragment" }
        return nil
    }
}
