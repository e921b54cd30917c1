import FoundationEssentials

extension Secret {
    /// A new bearer token. Programs that search for leaked secrets recognise it by its prefix.
    package static func newToken() -> Secret { Secret("msi_" + randomText()) }

    /// The value of a new sign-in's cookie.
    package static func newSignIn() -> Secret { Secret(randomText()) }

    /// 32 random bytes in URL-safe Base64 without padding: 43 characters.
    private static func randomText() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
