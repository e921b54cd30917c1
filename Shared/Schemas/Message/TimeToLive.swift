/// FCM's maximum and default time to live: four weeks, in seconds.
package let maxTimeToLive: Int64 = 2_419_200
