/// How long the service waits for the OpenID Connect provider, and how often it asks.
struct ProviderTimes {
    /// For a request with its whole answer.
    var request = Duration.seconds(5)
    /// How long a failed reading of the metadata or the keys is the answer to all who need them.
    var failureLifetime = Duration.seconds(3)
    /// Keys with unknown identifiers do not cause more than one request in this time.
    var minKeyAge = Duration.seconds(10)
}
