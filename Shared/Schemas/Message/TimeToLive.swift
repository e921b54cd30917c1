package import Time

/// FCM's maximum and default time to live: four weeks.
package let maxTimeToLive: Seconds = 2_419_200
