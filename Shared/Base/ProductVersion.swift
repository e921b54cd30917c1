/// The version of the product, by the rules of https://semver.org. Every program prints it with `--version`, and every service
/// reports it in `bus.health`.
package let productVersion = "1.1.0"
