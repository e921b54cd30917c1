import Hummingbird
import Schemas

/// The values of `Set-Cookie` for signing in and out.
enum SessionCookie {
    /// A sign-in's maximum duration in seconds: twelve hours. It may end earlier; the people service decides.
    private static let maxAge = 43_200

    static func begun(_ secret: Secret, isSecure: Bool) -> String {
        cookie(secret.text, maxAge: maxAge, isSecure: isSecure)
    }

    static func ended(isSecure: Bool) -> String {
        cookie("", maxAge: 0, isSecure: isSecure)
    }

    /// Browsers send it with a navigation from another site, so that the way back from the university's provider ends signed in. They
    /// do not send it with another site's other requests, and ``OriginCheck`` refuses those that change something.
    private static func cookie(_ value: String, maxAge: Int, isSecure: Bool) -> String {
        Cookie(
            name: PresentedCredential.cookieName(isSecure: isSecure), value: value, maxAge: maxAge, path: "/", secure: isSecure,
            httpOnly: true, sameSite: .lax
        ).description
    }
}
