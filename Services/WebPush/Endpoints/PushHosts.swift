import Base
import ServiceKit

/// The push services that subscriptions may have: the known ones, and those that the operator names (`MSI_WEBPUSH_HOSTS`).
struct PushHosts: Sendable {
    /// Whether a subscription may be at a push service.
    enum Permission: Hashable, Sendable {
        /// It is a known one.
        case known
        /// The operator has named the host, or the whole origin. Only an origin may have a private address.
        case operators(isOrigin: Bool)
        /// Why not.
        case refused(String)
    }

    /// The push services of Chrome, Firefox, Safari and Edge. A leading dot stands for all hosts below.
    static let known = ["fcm.googleapis.com", "updates.push.services.mozilla.com", ".push.apple.com", ".notify.windows.com"]

    private struct Host: Hashable, Sendable {
        /// With a leading dot for all below.
        let name: String
        let port: UInt16

        /// Without the leading dot, and with the port if it is not the default one.
        var text: String { (name.hasPrefix(".") ? String(name.dropFirst()) : name) + (port == 443 ? "" : ":\(port)") }

        func matches(_ origin: PushOrigin) -> Bool {
            guard origin.isSecure, origin.port == port else { return false }
            return name.hasPrefix(".") ? origin.host.hasSuffix(name) && origin.host != name : origin.host == name
        }
    }

    private static let knownHosts = known.map { Host(name: $0, port: 443) }
    private let hosts: [Host]
    private let origins: Set<PushOrigin>
    /// How metrics and blocks name the push services.
    let labels: PushServiceLabels

    /// - Parameter operators: Hosts (`push.example.edu`, `push.example.edu:8443`, `.example.edu` for all below) and origins
    ///   (`https://10.1.2.3:8443`; `http://` only with a loopback address).
    /// - Throws: ``ConfigurationError`` that names the wrong one.
    init(operators: [String] = []) throws {
        var hosts: [Host] = []
        var origins: Set<PushOrigin> = []
        for text in operators where !text.isEmpty {
            if let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) {
                guard let authority = HTTPAuthority(text.dropFirst(scheme.count)) else { throw Self.error(text) }
                let origin = PushOrigin(isSecure: scheme == "https://", host: authority.host, port: authority.port)
                guard origin.isSecure || isLoopbackURL(origin.text) else {
                    throw ConfigurationError("\"\(text.prefix(80))\": http:// is only for loopback addresses")
                }
                origins.insert(origin)
            } else {
                let name = text.hasPrefix(".") ? text.dropFirst() : text[...]
                guard let authority = HTTPAuthority(name), !authority.host.hasPrefix(".") else { throw Self.error(text) }
                hosts.append(Host(name: (text.hasPrefix(".") ? "." : "") + authority.host, port: authority.port ?? 443))
            }
        }
        self.hosts = hosts
        self.origins = origins
        let all = Self.knownHosts + hosts
        labels = PushServiceLabels(
            hosts: all.filter { !$0.name.hasPrefix(".") }.map(\.text) + origins.map { PushEndpoint.host(of: $0.text) },
            domains: all.filter { $0.name.hasPrefix(".") }.map(\.text))
    }

    func permission(for origin: PushOrigin) -> Permission {
        if origins.contains(origin) { return .operators(isOrigin: true) }
        guard origin.isSecure else { return .refused("expected a URL that begins with https://") }
        if hosts.contains(where: { $0.matches(origin) }) { return .operators(isOrigin: false) }
        guard origin.address == nil else {
            return .refused("expected the host of a known push service, found an address")
        }
        if Self.knownHosts.contains(where: { $0.matches(origin) }) { return .known }
        let isKnownElsewhere = Self.knownHosts.contains { $0.matches(PushOrigin(isSecure: true, host: origin.host, port: 443)) }
        if isKnownElsewhere { return .refused("expected the default port of \(origin.host), found \(origin.port)") }
        return .refused(
            "\(origin.host.prefix(100)) is no known push service; the operator can allow its host (MSI_WEBPUSH_HOSTS)")
    }

    private static func error(_ text: String) -> ConfigurationError {
        ConfigurationError(
            "\"\(text.prefix(80))\": expected a host, host:port, a leading dot for all hosts below, or an origin such as "
                + "https://10.1.2.3:8443")
    }
}
