import HTTPTransport
import ServiceKit

extension CurlConfiguration {
    /// The settings for FCM and the token endpoint, which has one connection.
    ///
    /// - Parameter certificateAuthorityFile: PEM certificates to trust instead of the system's.
    static func fcm(trusting certificateAuthorityFile: String? = nil) -> CurlConfiguration {
        var configuration = CurlConfiguration(
            userAgent: "msi-fcm-relay", requestTimeout: DeliveryTimes.fcmRequestTimeout,
            certificateAuthorityFile: certificateAuthorityFile)
        // More would only compete for the processors: FCM's quota is far below the rate of two.
        configuration.threads = 2
        // FCM's limit.
        configuration.streamsPerConnection = 100
        // FCM closes an idle connection after about three minutes.
        configuration.idleTimeout = .seconds(118)
        // FCM closes a connection after one hour.
        configuration.maxConnectionAge = .seconds(3_300)
        // The longest answer lists a phone's 2,000 topics, whose names may have 900 characters, with their dates: 2 MB.
        configuration.maxBodyBytes = 4 << 20
        return configuration
    }
}
