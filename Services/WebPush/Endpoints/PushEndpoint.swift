import Base
import Schemas
import ServiceKit

/// The URL of a subscription at its push service. It comes from a stranger, and this service sends requests to it. So only the hosts of
/// known push services, and those that the operator names, are accepted.
struct PushEndpoint: Hashable, Sendable {
    let url: String
    /// The push service: the scheme, the host, and the port if it is not the default one. It is in lower case.
    let origin: String
    /// Whether the operator has named the origin. Then it may have a private address.
    let isOperatorsOrigin: Bool
    /// The name of the push service: the host, or the domain that the service's hosts have in common.
    let service: String

    /// The maximum length in bytes. The longest known ones have about 600.
    static let maxLength = 2_048

    /// The origin without its scheme, for people.
    var host: String { Self.host(of: origin) }

    /// The host, and the port if it is not the default one, of an origin.
    static func host(of origin: String) -> String {
        origin.firstRange(of: "://").map { String(origin[$0.upperBound...]) } ?? origin
    }

    /// - Throws: ``SchemaViolation`` with the field `endpoint` and the reason. It does not contain the path, which is secret.
    init(_ url: String, allowed: PushHosts) throws(SchemaViolation) {
        guard url.utf8.count <= Self.maxLength else {
            throw Self.violation("expected at most \(Self.maxLength) bytes, found \(url.utf8.count)")
        }
        guard let scheme = ["https://", "http://"].first(where: { url.hasPrefix($0) }) else {
            throw Self.violation("expected a URL that begins with https://")
        }
        guard url.utf8.allSatisfy(\.isURLCharacter) else {
            throw Self.violation(
                "expected only the characters of a URL, without spaces, controls, backslashes and letters beyond ASCII")
        }
        guard !url.utf8.contains(UInt8(ascii: "#")) else { throw Self.violation("expected a URL without a fragment (#)") }
        let rest = url.dropFirst(scheme.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else { throw Self.violation("expected a URL without a user name") }
        guard let parsed = HTTPAuthority(authority), !parsed.host.hasPrefix("."), !parsed.host.contains("..") else {
            throw Self.violation("expected the name of a host after \(scheme)")
        }
        guard end < rest.endIndex, rest[end] == "/", rest.index(after: end) < rest.endIndex else {
            throw Self.violation("expected a path, which names the subscription")
        }
        self.url = url
        let origin = PushOrigin(isSecure: scheme == "https://", host: parsed.host, port: parsed.port)
        self.origin = origin.text
        service = allowed.labels.label(of: Self.host(of: origin.text))
        switch allowed.permission(for: origin) {
        case .known: isOperatorsOrigin = false
        case .operators(let isOrigin): isOperatorsOrigin = isOrigin
        case .refused(let reason): throw Self.violation(reason)
        }
    }

    private static func violation(_ problem: String) -> SchemaViolation { SchemaViolation(field: "endpoint", problem: problem) }
}

/// The scheme, the host and the port of a URL.
struct PushOrigin: Hashable, Sendable {
    let isSecure: Bool
    /// In lower case.
    let host: String
    let port: UInt16

    init(isSecure: Bool, host: String, port: UInt16?) {
        self.isSecure = isSecure
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
    }

    /// As browsers write it: without the default port.
    var text: String {
        let isDefault = port == (isSecure ? 443 : 80)
        return (isSecure ? "https://" : "http://") + host + (isDefault ? "" : ":\(port)")
    }

    /// The host as an address, if it is one.
    var address: IPAddress? { IPAddress(host.filter { $0 != "[" && $0 != "]" }) }
}

extension UInt8 {
    /// RFC 3986: what a URL consists of.
    fileprivate var isURLCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~:/?#[]@!$&'()*+,;=%".utf8.contains(self)
        }
    }
}
