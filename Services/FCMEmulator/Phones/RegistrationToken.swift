/// The token that names one installation of an app on one phone.
enum RegistrationToken {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".unicodeScalars)
    /// What an iPhone's token ends with. A server cannot tell the tokens of the real FCM apart; the emulator has to know an
    /// iPhone's also once it is unregistered.
    private static let iosEnd = "-iOS"

    /// A new token of FCM's look: the installation's id, a colon and a long secret.
    static func new(for platform: Platform) -> String {
        switch platform {
        case .android: "\(random(22)):APA91b\(random(133))a"
        case .ios: "\(random(22)):APA91b\(random(130))\(iosEnd)"
        }
    }

    /// The phone that a well-formed token is for.
    static func platform(of token: String) -> Platform {
        token.hasSuffix(iosEnd) ? .ios : .android
    }

    /// Whether a text could be a token at all; FCM tells such a one apart from a token that it does not know.
    static func isWellFormed(_ token: String) -> Bool {
        let parts = token.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        return parts.count == 2 && (8...64).contains(parts[0].count) && (100...1_000).contains(parts[1].count)
            && parts.allSatisfy(isOfAlphabet)
    }

    /// Whether a text could be an installation's id.
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

/// What kind of phone a simulated one is.
enum Platform: String, CaseIterable, Sendable {
    case android = "ANDROID"
    case ios = "IOS"
}
