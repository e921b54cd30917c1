/// The token of one installation of an app on one phone.
enum RegistrationToken {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".unicodeScalars)
    /// The suffix of an iPhone's token. The tokens of the real FCM do not reveal the platform. The emulator needs it even after
    /// the phone has unregistered.
    private static let iosEnd = "-iOS"

    /// A new token in FCM's form: the installation's id, a colon and a long secret.
    static func new(for platform: Platform) -> String {
        switch platform {
        case .android: "\(random(22)):APA91b\(random(133))a"
        case .ios: "\(random(22)):APA91b\(random(130))\(iosEnd)"
        }
    }

    /// The platform of a well-formed token's phone.
    static func platform(of token: String) -> Platform {
        token.hasSuffix(iosEnd) ? .ios : .android
    }

    /// Whether a text has the form of a token. FCM answers a malformed token differently from an unknown one.
    static func isWellFormed(_ token: String) -> Bool {
        let parts = token.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        return parts.count == 2 && (8...64).contains(parts[0].count) && (100...1_000).contains(parts[1].count)
            && parts.allSatisfy(isOfAlphabet)
    }

    /// Whether a text has the form of an installation's id.
    static func isInstallation(_ id: String) -> Bool {
        id.utf8.count == 22 && isOfAlphabet(id.utf8)
    }

    private static func isOfAlphabet(_ text: some Collection<UInt8>) -> Bool {
        text.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    private static func random(_ count: Int) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<count { text.append(alphabet[Int.random(in: 0..<alphabet.count)]) }
        return String(text)
    }
}

/// The operating system of a simulated phone.
enum Platform: String, CaseIterable, Sendable {
    case android = "ANDROID"
    case ios = "IOS"
}
